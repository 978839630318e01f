import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { makeDispatcher } from '../src/events/index.ts'
import { catalogOf } from '../src/host/index.ts'
import { openTestProject } from '../src/project/index.ts'
import { loadActiveRelease } from '../src/release/index.ts'
import { openDeliverySite, type DeliverySite } from '../test/faults/delivery-site.ts'
import { bothKinds, type Kind } from '../test/support/forms.ts'
import { until } from '../test/support/until.ts'
import { atLeast, beside, type Figure } from './goal.ts'
import { isTiny, scaled } from './scale.ts'
import { quantile } from './statistics.ts'

const everyMs = 100
const seconds = scaled(6, 1)
/** Messages dispatched each time. */
const batch = 10
/** How long after the last dispatch a message counts as in time. */
const graceMs = 1000

/** What listeners do again and again; runs at the same time are its number. */
const faults: Readonly<Record<string, string>> = {
  'an endless loop': 'for (;;);',
  'a query of SQLite of 15 s': `new DatabaseSync(':memory:').exec(
    'create table t as with recursive c(n) as (select 1 union all select n + 1 from c where n < 1e8) select max(n) from c')`,
  '4 GB of heap': 'const all = []; for (;;) all.push(new Array(1e5).fill(Math.random()))',
  'buffers without end': 'const all = []; for (;;) { all.push(Buffer.alloc(2 ** 24, 1)); await pause(1) }',
  'an end of the process': 'process.exit(1)',
  'SIGKILL of the process': "process.kill(process.pid, 'SIGKILL')",
  'SIGSTOP of the process': "process.kill(process.pid, 'SIGSTOP')",
  'a timer that is left running': 'setInterval(() => undefined, 1)',
  'output without end': "for (const text = 'x'.repeat(2 ** 16) + '\\n'; ;) process.stdout.write(text)",
  'log lines without end':
    "for (let n = 0; ; n++) { context.log.info('x'.repeat(1000)); if (n % 1000 === 0) await pause(0) }",
  'unasked messages': `for (;;) {
    for (let n = 0; n < 100; n++) process.send({ ended: 'run_x', turn: 1, result: { kind: 'done' } })
    await pause(0)
  }`,
}
const code = `
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
const faults = [${Object.values(faults)
  .map((text) => `async (context) => { ${text} }`)
  .join()}]
export default class { async handle({ body }, context) { await faults[body.fault](context) } }
`
const definition = `
event: { note: {}, acted: { private: true } }
listener: { act: { event: acted, action: src/act.js, timeout: 2s, retries: [${Array.from({ length: 20 }, () => '10ms').join()}] } }
config: { listener_memory: 128mb }
`

/** Measures how many of 100 messages per second are delivered in time while listeners do what they should not. */
export async function measureBesideListeners(): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const kind of bothKinds) figures.push(...(await measureKind(kind)))
  return figures
}

async function measureKind(kind: Kind): Promise<Figure[]> {
  const figures: Figure[] = []
  await using site = await openDeliverySite({ kind })
  const { folder } = site.host
  await mkdir(path.join(folder, 'src'))
  await writeFile(path.join(folder, 'src/act.js'), code)
  await writeFile(path.join(folder, 'waypost.yml'), definition)
  await (await openTestProject(folder)).install(site.host)
  await site.subscribe('/hook')
  const worker = site.startWorker(['--watch', '--json'], {}, { stderr: 'ignore' })
  await site.dispatch(1)
  await until('the worker delivers', () => site.receiver.received.length === 1)
  const names = Object.keys(faults).slice(0, isTiny ? 1 : undefined)
  for (const name of ['nothing', ...names]) {
    const { rate, latencyMs } = await measure(site, Object.keys(faults).indexOf(name))
    const what = `share of 100 messages per second that are delivered in time beside ${name}, ${kind}`
    figures.push(
      atLeast(what, { value: rate, unit: '' }, 0.9),
      beside('  p95 of the time from dispatch to POST', `${latencyMs.toFixed(0)} ms`),
    )
    await site.system.db.deleteFrom('waypost_run').execute()
  }
  await worker.stop()
  return figures
}

async function measure({ system, receiver }: DeliverySite, fault: number) {
  const dispatcher = makeDispatcher(system, catalogOf((await loadActiveRelease(system))!.manifest))
  const send = (event: string, all: readonly unknown[]) =>
    dispatcher.store(all.map((data) => dispatcher.prepare({ event, data })))
  if (fault >= 0) await send('acted', [{ fault }, { fault }])
  await pause(scaled(2000, 10)) // the process has started
  const first = receiver.received.length
  const sent = new Map<string, number>()
  const began = performance.now()
  for (let n = 0; n < (seconds * 1000) / everyMs; n++) {
    const keys = Array.from({ length: batch }, (_, index) => `${began} ${n} ${index}`)
    for (const key of keys) sent.set(JSON.stringify(key), performance.now())
    await send('note', keys)
    await pause(Math.max(0, began + (n + 1) * everyMs - performance.now()))
  }
  await pause(graceMs)
  const arrived = receiver.received.slice(first)
  await until('all are delivered', () => receiver.received.length >= first + sent.size)
  const latencies = arrived.map(({ body, at }) => at - sent.get(body)!)
  return { rate: arrived.length / sent.size, latencyMs: quantile(latencies, 0.95) }
}
