import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { checkout, cleanEnvironment, startCli, type CliOptions } from '../test/support/cli.ts'
import { findFreePort } from '../bin/demo/waypost.ts'
import { makeProject } from '../test/support/project.ts'
import { send } from '../test/support/send.ts'
import { atMost, beside, type Figure } from './goal.ts'
import { makeDemo } from './projects.ts'
import { scaled } from './scale.ts'
import { median } from './statistics.ts'

const rounds = scaled(7)
const pluginRounds = scaled(15)
const devRounds = scaled(5)
const idleMs = scaled(3000, 10)
const secret = 'kq7R2mZ0xw5JtYb9Lc4Hf8Ns1Dv6Gp3A'

/** Measures what users wait for: commands, `serve`, `dev` on a new project, and the tests of the demo. */
export async function measureStart(): Promise<Figure[]> {
  const figures = [...(await measureCommands()), ...(await measurePlugins())]
  const first: number[] = []
  const tests: number[] = []
  for (let round = 0; round < devRounds; round++) {
    first.push(await timeDev())
    tests.push(await timeTests())
  }
  return [
    ...figures,
    atMost('dev on a new project, to its first answer', { value: median(first), unit: 's' }, 2),
    atMost('the tests of the demo', { value: median(tests), unit: 's' }, 2),
  ]
}

/** Measures commands and `serve`, compared with Node itself and a bare Fastify, in turns. */
async function measureCommands(): Promise<Figure[]> {
  await using demo = await makeDemo()
  const port = await findFreePort()
  const env = { WAYPOST_SECRET: secret, WAYPOST_BASE_URL: `http://127.0.0.1:${port}`, HOST: '127.0.0.1' }
  const options = { cwd: demo.folder, env }
  const command = (...words: string[]) => run(words, options)
  await command('migrate')
  await command('deploy', '--yes')
  const turns = {
    node: () => time(() => runNode(checkout, '-e', '0')),
    version: () => time(() => command('--version')),
    validate: () => time(() => command('validate')),
    users: () => time(() => command('user:list')),
    fastify: () => startServer(port, ['--input-type=module', '--eval', bareFastify, String(port)], { cwd: checkout }),
    serve: () => startServer(port, [path.join(checkout, 'bin/run.js'), 'serve', '--port', String(port)], options),
  }
  const figures = new Map(Object.keys(turns).map((name) => [name, [] as Start[]]))
  for (let round = -1; round < rounds; round++) {
    for (const [name, turn] of Object.entries(turns)) {
      const start = await turn()
      if (round >= 0) figures.get(name)!.push(start) // the first round reads files and compiles code
    }
  }
  const seconds = (name: keyof typeof turns) => median(figures.get(name)!.map(({ s }) => s))
  const memory = (name: keyof typeof turns) => median(figures.get(name)!.map(({ mb }) => mb))
  const versus = (name: keyof typeof turns) => ({ value: seconds(name) / seconds('node'), unit: '' })
  return [
    beside('node -e 0', { value: seconds('node'), unit: 's' }),
    atMost('waypost --version, times node -e 0', versus('version'), 5),
    atMost('waypost validate, the demo, times node -e 0', versus('validate'), 6.5),
    atMost('waypost user:list, the demo, times node -e 0', versus('users'), 8),
    atMost('waypost serve to ready, the demo', { value: seconds('serve'), unit: 's' }, 0.7),
    beside('  bare Fastify to its first response', { value: seconds('fastify'), unit: 's' }),
    atMost('memory of waypost serve without requests', { value: memory('serve'), unit: 'MB' }, 125),
    beside('  memory of bare Fastify', { value: memory('fastify'), unit: 'MB' }),
  ]
}

/** Measures the CPU time of commands in a project with ten plugins that have commands, and in one without, in turns. */
async function measurePlugins(): Promise<Figure[]> {
  await using without = await makeDemo()
  await using withTen = await makeDemo()
  for (const { folder } of [without, withTen]) await run(['migrate'], { cwd: folder, env: { WAYPOST_SECRET: secret } })
  addPlugins(withTen.folder)
  const commands = { '--version': ['--version'], 'user:list': ['user:list'] }
  const figures: Figure[] = []
  for (const [name, words] of Object.entries(commands)) {
    const ticks = { without: 0, with: 0 }
    for (let round = -1; round < pluginRounds; round++) {
      for (const [key, { folder }] of [['without', without] as const, ['with', withTen] as const]) {
        const before = childTicks()
        await run(words, { cwd: folder, env: { WAYPOST_SECRET: secret } })
        if (round >= 0) ticks[key] += childTicks() - before
      }
    }
    figures.push(
      atMost(`CPU of ${name} with ten plugins, times without`, { value: ticks.with / ticks.without, unit: '' }, 1.1),
    )
  }
  return figures
}

function addPlugins(folder: string): void {
  const names = Array.from({ length: 10 }, (_, index) => `plugin-${index}`)
  for (const name of names) {
    const at = path.join(folder, 'node_modules', name)
    mkdirSync(at, { recursive: true })
    const commands = Object.fromEntries(['list', 'show', 'add'].map((id) => [`${name}:${id}`, { id: `${name}:${id}` }]))
    const files = {
      'package.json': {
        name,
        version: '1.0.0',
        type: 'module',
        exports: './index.js',
        oclif: { commands: './commands' },
      },
      'oclif.manifest.json': { version: '1.0.0', commands },
    }
    for (const [file, value] of Object.entries(files)) writeFileSync(path.join(at, file), JSON.stringify(value))
    writeFileSync(path.join(at, 'index.js'), `export default { name: '${name}', requires: '*' }\n`)
  }
  appendFileSync(path.join(folder, 'waypost.yml'), `plugins: [${names.join(', ')}]\n`)
}

/** CPU time of all ended child processes, in clock ticks. */
function childTicks(): number {
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]!.split(' ')
  return Number(fields[13]) + Number(fields[14])
}

async function run(words: readonly string[], options: CliOptions): Promise<void> {
  const { code, stdout, stderr } = await startCli(words, options).ended
  if (code !== 0) throw new Error(`${words.join(' ')} ended with ${code}\n${stdout}${stderr}`)
}

interface Start {
  readonly s: number
  readonly mb: number
}

async function time(run: () => Promise<unknown>): Promise<Start> {
  const began = performance.now()
  await run()
  return { s: (performance.now() - began) / 1000, mb: 0 }
}

async function runNode(cwd: string, ...words: string[]): Promise<void> {
  const child = spawn(process.execPath, words, { cwd, stdio: 'ignore', env: cleanEnvironment() })
  const [code] = (await once(child, 'exit')) as [number | null]
  if (code !== 0) throw new Error(`node ${words.join(' ')} ended with ${code}`)
}

const bareFastify = `
  import fastify from 'fastify'
  const app = fastify()
  app.get('/health/ready', async () => ({ status: 'ok' }))
  await app.listen({ port: Number(process.argv[1]), host: '127.0.0.1' })`

/** Seconds until `/health/ready` returns 200, and the memory some time later. */
async function startServer(port: number, words: readonly string[], options: CliOptions): Promise<Start> {
  const began = performance.now()
  const env = cleanEnvironment(options.env)
  const child = spawn(process.execPath, words, { cwd: options.cwd, env, stdio: 'ignore' })
  try {
    while (!(await isReady(port))) {
      if (child.exitCode !== null) throw new Error(`${words.join(' ')} ended with ${child.exitCode}`)
      await pause(2)
    }
    const s = (performance.now() - began) / 1000
    await pause(idleMs)
    const mb = Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))![1]) / 1024
    return { s, mb }
  } finally {
    child.kill()
    await once(child, 'exit')
  }
}

async function isReady(port: number): Promise<boolean> {
  try {
    return (await send(port, { method: 'GET', path: '/health/ready' })).status === 200
  } catch {
    return false
  }
}

/** @returns seconds, including the creation of System */
async function timeDev(): Promise<number> {
  const project = await makeProject()
  const began = performance.now()
  const dev = project.start('dev --port 0')
  const [, port] = await dev.waitFor(/API {7}http:\/\/localhost:(\d+)/)
  const { status } = await send(Number(port), { path: '/todo' })
  const passed = (performance.now() - began) / 1000
  await dev.stop()
  await project.remove()
  if (status !== 200) throw new Error(`dev answered ${status}`)
  return passed
}

/** @returns seconds */
async function timeTests(): Promise<number> {
  const project = await makeProject()
  const passed = (await time(() => runNode(project.folder, '--test'))).s
  await project.remove()
  return passed
}
