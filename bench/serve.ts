import { readFileSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import path from 'node:path'
import { makeHost, secret } from '../test/e2e/serving.ts'
import type { RunningCli } from '../test/support/cli.ts'
import { startPostgres } from '../test/support/postgres.ts'
import { openProject, type TestProject } from '../test/support/project.ts'
import { send } from '../test/support/send.ts'
import { atLeast, atMost, beside, type Figure } from './goal.ts'
import { makeBigProject, makeDemo, type BenchProject } from './projects.ts'
import { scaled } from './scale.ts'
import { median } from './statistics.ts'
import { ask, openLoad } from './turns.ts'

const starts = scaled(7, 2)
const idleMs = scaled(3000, 10)
const loadMs = scaled(4000, 300)

/** Measures the start and idle memory of `serve`, and the gain of a second process on its port. */
export async function measureServe(): Promise<Figure[]> {
  await using site = await openSite()
  const demo = await site.deploy(await makeDemo())
  const demoStarts = await startOften(demo)
  const closedStarts = await startOften(demo, { WAYPOST_BACKEND: 'off' })
  const memoryOf = (some: readonly Start[]) => median(some.map(({ mb }) => mb))
  const two = await measureTwo(await site.deploy(await makeBusyProject()))
  const big = await site.deploy(await makeBigProject())
  const bigStarts = await startOften(big)
  return [
    atMost('cold start of serve to ready, the demo', { value: median(demoStarts.map(({ s }) => s)), unit: 's' }, 0.7),
    beside('  processor time of it', { value: median(demoStarts.map(({ cpuS }) => cpuS)), unit: 's' }),
    atMost('memory with nothing to do', { value: memoryOf(demoStarts), unit: 'MB' }, 140),
    atMost(
      '  of it for the backend, before its first request',
      { value: memoryOf(demoStarts) - memoryOf(closedStarts), unit: 'MB' },
      5,
    ),
    atMost('cold start, 1,000 routes', { value: median(bigStarts.map(({ s }) => s)), unit: 's' }, 2),
    beside('  processor time of it', { value: median(bigStarts.map(({ cpuS }) => cpuS)), unit: 's' }),
    beside('  memory with nothing to do', { value: memoryOf(bigStarts), unit: 'MB' }),
    ...two,
  ]
}

/** PostgreSQL, and a server folder for each project. */
async function openSite() {
  const stack = new AsyncDisposableStack()
  const postgres = await startPostgres()
  stack.defer(() => postgres.stop())
  return {
    async deploy(project: BenchProject): Promise<TestProject> {
      stack.use(project)
      const env = {
        WAYPOST_SYSTEM_URL: await postgres.createDatabase(),
        WAYPOST_SECRET: secret,
        WAYPOST_BASE_URL: 'http://api.example.com',
        HOST: '127.0.0.1',
        LOG_LEVEL: 'warn',
      }
      const sources = openProject(project.folder, env, async () => undefined)
      await sources.ok('migrate')
      await sources.ok('deploy --yes')
      const host = await makeHost(env)
      stack.defer(host.remove)
      return host
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

interface Start {
  /** Seconds from the shell until it was ready. */
  readonly s: number
  /** Seconds of processor time until then, which other load affects less. */
  readonly cpuS: number
  /** Memory some time later. */
  readonly mb: number
}

async function startOften(host: TestProject, env: Readonly<Record<string, string>> = {}): Promise<Start[]> {
  const figures: Start[] = []
  for (let time = 0; time < starts; time++) {
    const began = performance.now()
    const { running } = await serve(host, '--port 0', env)
    const s = (performance.now() - began) / 1000
    const cpuS = readCpu([running.pid])
    await new Promise((resolve) => setTimeout(resolve, idleMs))
    figures.push({ s, cpuS, mb: readMemory(running.pid) })
    await running.stop()
  }
  return figures.slice(1) // the first round reads files and compiles code
}

async function serve(
  host: TestProject,
  words = '--port 0',
  env: Readonly<Record<string, string>> = {},
): Promise<{ running: RunningCli; port: number }> {
  const running = host.start(`serve ${words}`, { env })
  const [, text] = await running.waitFor(/Serving {4}http:\/\/localhost:(\d+)/)
  const port = Number(text)
  while ((await send(port, { path: '/health/ready' })).status !== 200);
  return { running, port }
}

/** The demo with a route that costs the server a hundred times as much as its caller, who else would be the limit. */
async function makeBusyProject(): Promise<BenchProject> {
  const project = await makeDemo()
  const file = path.join(project.folder, 'waypost.yml')
  const route = '  /busy: { methods: { GET: { public: true, action: src/busy.ts } } }'
  await writeFile(file, (await readFile(file, 'utf8')).replace('routes:\n', `routes:\n${route}\n`))
  const action = `import { pbkdf2Sync } from 'node:crypto'

export default class Busy {
  handle() {
    return { key: pbkdf2Sync('password', 'salt', 10_000, 32, 'sha256').toString('hex') }
  }
}
`
  await writeFile(path.join(project.folder, 'src/busy.ts'), action)
  return project
}

/** Compares two processes on one port with one, under the load of two processes. */
async function measureTwo(host: TestProject): Promise<Figure[]> {
  const loads = [openLoad(), openLoad()]
  const one = await serve(host, '--port 0 --reuse-port')
  const order = { port: one.port, request: { method: 'GET', path: '/busy' }, ms: loadMs, connections: 32 }
  const run = async (servers: readonly RunningCli[]) => {
    const pids = [servers.map(({ pid }) => pid), loads.map(({ pid }) => pid!)] as const
    const before = pids.map(readCpu)
    const reports = (await Promise.all(loads.map((load) => ask(load, order)))) as { answered: number }[]
    const [served, loaded] = pids.map((some, index) => (readCpu(some) - before[index]!) / (loadMs / 1000))
    return {
      rate: reports.reduce((sum, { answered }) => sum + answered, 0) / (loadMs / 1000),
      served: served!,
      loaded: loaded!,
    }
  }
  await run([one.running]) // warms up compiled code
  const alone = await run([one.running])
  const other = await serve(host, `--port ${one.port} --reuse-port`)
  await run([one.running, other.running])
  const both = await run([one.running, other.running])
  for (const load of loads) load.kill()
  await Promise.all([one.running.stop(), other.running.stop()])
  const ratio = both.rate / alone.rate
  const what = 'two processes on one port, times one'
  const use = ({ served, loaded }: typeof both) => `${served.toFixed(2)} + ${loaded.toFixed(2)}`
  return [
    alone.served < 0.9 // one process that always has something to do
      ? beside(`${what}: other processes use the processors`, { value: ratio, unit: '' })
      : atLeast(what, { value: ratio, unit: '' }, 1.6),
    beside('  requests/s', `${alone.rate.toFixed(0)} and ${both.rate.toFixed(0)}`),
    beside(`  processors of servers + load, of ${availableParallelism()}`, `${use(alone)} and ${use(both)}`),
  ]
}

function readMemory(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024
}

const ticksPerSecond = 100

/** Returns the processor time of processes in seconds. */
export function readCpu(pids: readonly number[]): number {
  const ticks = pids.map((pid) => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
    return Number(fields[11]) + Number(fields[12])
  })
  return ticks.reduce((sum, one) => sum + one, 0) / ticksPerSecond
}
