// Worker processes with listeners and deliveries, while everything happens to them at random: for a minute, or as long as
// CHAOS_SECONDS says. The ledger is in System.
import assert from 'node:assert/strict'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { makeDispatcher, replayDeadRuns } from '../../src/events/index.ts'
import { catalogOf } from '../../src/host/index.ts'
import { readEnvironment, variable } from '../../src/kit/index.ts'
import { openTestProject } from '../../src/project/index.ts'
import { loadActiveRelease } from '../../src/release/index.ts'
import type { RunningCli } from '../support/cli.ts'
import { bothKinds, longTest } from '../support/forms.ts'
import { untilNothingIsLeft } from '../support/until.ts'
import { openDeliverySite, type DeliverySite } from './delivery-site.ts'

const seconds = Number(variable(readEnvironment(), 'CHAOS_SECONDS') ?? 60)

/** More than what fails on purpose. */
const short = Array.from({ length: 20 }, () => '50ms').join(', ')

const definition = (version: number) => `
event: { note: {}, acted: { private: true }, followed: { private: true } }
listener:
  plain: { event: acted, action: src/plain.js, timeout: 2s, retries: [${short}] }
  once: { event: acted, action: src/once.js, timeout: 2s, once: true, retries: [${short}] }
  follow: { event: followed, action: src/follow.js, once: true, exclusive: data.key, description: "version ${version}" }
config: { delivery_delays: [1s, 2s, 4s] }
`
const insert = (kind: string) =>
  `await context.connection('System').insertInto('app_ledger').values({ kind: '${kind}', n: body.n }).execute()`
const files = {
  'src/plain.js': `export default class {
    async handle({ body, message }, context) {
      if (message.attempt === 1) switch (body.n % 200) {
        case 1: throw new Error('no')
        case 51: return process.exit(1)
        case 101: for (;;);
        case 151: return new Promise(() => undefined)
      }
      ${insert('plain')}
    }
  }`,
  'src/once.js': `export default class {
    async handle({ body, message }, context) {
      ${insert('once')}
      await context.dispatch('followed', { n: body.n, key: body.n % 7 }, body.n % 2 ? {} : { delay: '1s', key: String(body.n) })
      if (message.attempt === 1 && body.n % 50 === 2) throw new Error('no')
      if (message.attempt === 1 && body.n % 200 === 3) return process.exit(1)
    }
  }`,
  'src/follow.js': `export default class {
    async handle({ body }, context) { ${insert('follow')} }
  }`,
}

const listeners = ['plain', 'once', 'follow'] as const

for (const kind of bothKinds)
  longTest(`while everything fails, nothing is lost, and "once" happens once, on ${kind}`, async () => {
    await using site = await openDeliverySite({ kind })
    await using chaos = await openChaos(site, kind === 'postgresql' ? 3 : 1)
    await sendUntil(site, performance.now() + seconds * 1000, chaos.act)
    chaos.settle()
    await untilAllEnded(site)
    const { sent, counts } = await readLedger(site)
    const lost = [...counts].flatMap(([name, found]) => sent.filter((n) => !found.has(n)).map((n) => `${name} ${n}`))
    const repeated = [...counts].map(
      ([name, found]) => [name, [...found.values()].filter((n) => n > 1).length] as const,
    )
    const all = repeated.map(([name, count]) => `${count} ${name}`).join(', ')
    process.stdout.write(`${kind}, ${seconds} s: ${sent.length} messages; ${chaos.describe()}; repeated: ${all}\n`)
    assert.deepEqual(lost, [])
    assert.partialDeepStrictEqual(Object.fromEntries(repeated), { once: 0, follow: 0 })
    for (const found of counts.values()) assert.equal(found.size, sent.length, 'nothing happened that was not sent')
  })

/** Runs that were lost wait for each other, so this may take long: fails only if nothing has ended for a while. */
async function untilAllEnded(site: DeliverySite): Promise<void> {
  await untilNothingIsLeft('all has ended', async () => {
    const left = await findLeft(site)
    const { rows } = await sql<{
      runs: number
      posts: number
    }>`select (select count(*) from waypost_run where status = 'done') as runs,
      (select count(*) from waypost_delivery where status = 'delivered') as posts`.execute(site.system.db)
    if (left.length === 0) return undefined
    return `${left.join('; ')}, after ${rows[0]!.runs} runs and ${rows[0]!.posts} deliveries`
  })
}

/** What has not ended. Dead runs are replayed. */
async function findLeft({ system }: DeliverySite): Promise<readonly string[]> {
  for (const listener of listeners) await replayDeadRuns(system, listener)
  const { rows } = await sql<{ left: string }>`
    select 'delayed ' || event as left from waypost_delayed
    union all select listener || ' ' || status || ' lost ' || lost || ' failures ' || failures || ' ' || coalesce(outcome, '')
      from waypost_run where status in ('pending', 'running', 'dead')
    union all select 'message' from waypost_message where fanned_out_at is null and event = 'note'
    union all select 'delivery failures ' || failures || ' lost ' || lost from waypost_delivery where status = 'pending'
    limit 20`.execute(system.db)
  return rows.map(({ left }) => left)
}

/** What was sent, and how often it arrived at each listener and at the endpoint. */
async function readLedger({ system, receiver }: DeliverySite) {
  const { rows } = await sql<{ kind: string; n: number; count: number }>`
    select kind, n, count(*) as count from app_ledger group by kind, n order by n`.execute(system.db)
  const of = (kind: string) => new Map(rows.flatMap((row) => (row.kind === kind ? [[row.n, row.count] as const] : [])))
  const posts = new Map<number, number>()
  for (const { body } of receiver.received) posts.set(Number(body), (posts.get(Number(body)) ?? 0) + 1)
  const counts = new Map([...listeners.map((kind) => [kind, of(kind)] as const), ['POSTs', posts] as const])
  return { sent: [...of('sent').keys()], counts }
}

/** Dispatches messages with a row for each, or neither; connections are ended here too. */
async function sendUntil({ system }: DeliverySite, end: number, act: () => void): Promise<void> {
  let n = 0
  const step = async () => {
    const dispatcher = makeDispatcher(system, catalogOf((await loadActiveRelease(system))!.manifest))
    const prepared = [n, n + 1].flatMap((one) => [
      dispatcher.prepare({ event: 'acted', data: { n: one } }),
      dispatcher.prepare({ event: 'note', data: one, ...(one % 3 === 0 ? { delay: '2s' } : {}) }),
    ])
    await system.transaction(async (trx) => {
      await dispatcher.store(prepared, trx)
      await sql`insert into app_ledger (kind, n) values ('sent', ${n}), ('sent', ${n + 1})`.execute(trx)
    })
  }
  for (let next = performance.now() + 2000; performance.now() < end; await pause(100), n += 2) {
    await step().catch(() => undefined)
    if (performance.now() < next) continue
    act()
    next = performance.now() + 1000 + Math.random() * 2000
  }
}

async function openChaos(site: DeliverySite, count: number) {
  const { folder } = site.host
  const { system } = site
  await mkdir(path.join(folder, 'src'), { recursive: true })
  for (const [name, text] of Object.entries(files)) await writeFile(path.join(folder, name), text)
  await sql`create table app_ledger (kind text not null, n int not null)`.execute(system.db)
  let version = 0
  const release = async () => {
    await writeFile(path.join(folder, 'waypost.yml'), definition(++version))
    await (await openTestProject(folder)).install(site.host)
  }
  await release()
  await site.subscribe('/hook')
  const workers: (RunningCli | undefined)[] = []
  const start = (place: number) => void (workers[place] = site.startWorker(['--watch', '--json']))
  for (let place = 0; place < count; place++) start(place)
  const done: Record<string, number> = {}
  const frozen = new Set<number>()
  let isOver = false
  const freeze = (pid: number, ms: number) => {
    if (!send(pid, 'SIGSTOP')) return
    frozen.add(pid)
    setTimeout(() => send(pid, 'SIGCONT') && frozen.delete(pid), ms).unref()
  }
  const anyWorker = () => workers[Math.floor(Math.random() * count)]!
  const faults: Readonly<Record<string, () => Promise<void> | void>> = {
    'killed workers': () => {
      const place = Math.floor(Math.random() * count)
      send(workers[place]!.pid, 'SIGKILL')
      start(place)
    },
    'frozen workers': () => freeze(anyWorker().pid, [1000, 20_000][Math.floor(Math.random() * 2)]!),
    'killed processes': async () => {
      for (const pid of await childrenOf(anyWorker().pid)) send(pid, 'SIGKILL')
    },
    'frozen processes': async () => {
      for (const pid of await childrenOf(anyWorker().pid)) freeze(pid, [500, 8000][Math.floor(Math.random() * 2)]!)
    },
    releases: () => release().catch(() => undefined),
    ...(system.kind === 'postgresql' && {
      'ended connections': async () => {
        await sql`select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid() order by random() limit 3`
          .execute(system.db)
          .catch(() => undefined)
      },
    }),
  }
  return {
    act() {
      if (isOver) return
      const name = Object.keys(faults)[Math.floor(Math.random() * Object.keys(faults).length)]!
      done[name] = (done[name] ?? 0) + 1
      void faults[name]!()
    },
    settle() {
      isOver = true
      for (const pid of frozen) send(pid, 'SIGCONT')
    },
    describe: () =>
      Object.entries(done)
        .map(([name, times]) => `${times} ${name}`)
        .join(', '),
    async [Symbol.asyncDispose]() {
      for (const pid of frozen) send(pid, 'SIGCONT')
      await Promise.all(workers.flatMap((worker) => (worker === undefined ? [] : [worker.stop()])))
    },
  }
}

function send(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal)
  } catch {
    return false // it has ended
  }
}

/** The processes that run the listeners of a worker. */
async function childrenOf(parent: number): Promise<readonly number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const stats = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')))
  return pids.filter((_, index) => Number(/\) \S (\d+)/.exec(stats[index]!)?.[1]) === parent).map(Number)
}
