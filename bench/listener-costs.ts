import { fork, type ChildProcess, type ForkOptions } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { ClaimedRun } from '../src/events/index.ts'
import { nodeCommand, nodeOptions } from '../src/jobs/listeners/node-command.ts'
import type { RunToStart, ToChild } from '../src/jobs/listeners/protocol.ts'
import { loadActiveRelease } from '../src/release/index.ts'
import { openTestProject } from '../src/project/index.ts'
import { openTestHost } from '../test/events/host.ts'
import { measureDispatchCost } from './dispatch.ts'
import { atMost, beside, type Figure } from './goal.ts'
import { scaled } from './scale.ts'
import { nextReport } from './turns.ts'

const runs = scaled(10_000, 50)
const batch = 50
const memory = 512 * 2 ** 20
const idleSeconds = scaled(10, 1)
/** In `/proc`, times are multiples of this. */
const tickMs = 10

/** Measures what listeners cost the request that dispatches to them, and the memory of the process that runs them. */
export async function measureListenerCosts(): Promise<Figure[]> {
  const { added, rates, costs } = await measureDispatchCost('/listened')
  const { own, bare, idleMs } = await measureProcess()
  return [
    atMost('a dispatch with three listeners adds to a POST route with one insert', { value: added, unit: '%' }, 35),
    beside('  without and with', rates),
    beside('  processor time of the server', costs),
    atMost(`memory of their process after ${runs} runs, above Node's own`, { value: own - bare, unit: 'MB' }, 60),
    beside('  with Node, and Node alone', `${own.toFixed(0)} and ${bare.toFixed(0)} MB`),
    atMost(`processor time of an idle process in ${idleSeconds} s`, { value: idleMs, unit: 'ms' }, 10),
  ]
}

/** Of the built package, because types are removed from sources by a program that needs much memory, in megabytes. */
async function measureProcess(): Promise<{ readonly own: number; readonly bare: number; readonly idleMs: number }> {
  const { host, folder, close } = await openTestHost('sqlite')
  await mkdir(path.join(folder, 'src'))
  await writeFile(
    path.join(folder, 'waypost.yml'),
    `event: { acted: { private: true } }\nlistener: { act: { event: acted, action: src/act.js } }`,
  )
  await writeFile(path.join(folder, 'src/act.js'), 'export default class { async handle() {} }')
  await (await openTestProject(folder)).install(host)
  const { id: releaseId } = (await loadActiveRelease(host.system))!
  const built = path.join(import.meta.dirname, '../dist/src/jobs/listeners/listener-child.js')
  const source = path.join(import.meta.dirname, '../src/jobs/listeners/listener-child.ts')
  const { endsWithParent, ...command } = nodeCommand(memory)
  const options = { cwd: folder, env: { ...host.environment }, ...command, execArgv: [...command.execArgv] }
  const child = open(existsSync(built) ? built : source, options)
  await tell(child, { start: { folder, releaseId, logLevel: 'info', endsWithParent } })
  for (let n = 0; n < runs; n += batch)
    await tell(child, { runs: JSON.stringify(Array.from({ length: batch }, makeRun)) })
  const own = await readMemory(child)
  const before = await readProcessorMs(child)
  await pause(idleSeconds * 1000)
  const idleMs = (await readProcessorMs(child)) - before
  child.kill('SIGKILL')
  await close()
  const empty = open(path.join(import.meta.dirname, 'bare-process.js'), { execArgv: nodeOptions(memory) })
  await nextReport(empty)
  const bare = await readMemory(empty)
  empty.kill('SIGKILL')
  return { own, bare, idleMs }
}

function open(file: string, options: ForkOptions): ChildProcess {
  return fork(file, [], { ...options, serialization: 'advanced' })
}

/** Resolves with the answer to all of a message, which comes at once. */
async function tell(child: ChildProcess, message: ToChild): Promise<void> {
  child.send(message)
  await nextReport(child)
}

let made = 0
function makeRun(): RunToStart {
  const counts = { turn: 1, failures: 0, postponed: 0, lost: 0, dispatchedAt: 0, dueAt: 0 }
  const run: ClaimedRun = {
    ...counts,
    id: `run_${made++}`,
    listener: 'act',
    message: 'msg_1',
    event: 'acted',
    data: '{}',
  }
  return { run, timeoutMs: 30_000, once: false }
}

async function readMemory({ pid }: ChildProcess): Promise<number> {
  const text = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/VmRSS:\s*(\d+) kB/.exec(text)![1]) / 1024
}

async function readProcessorMs({ pid }: ChildProcess): Promise<number> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8')
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * tickMs
}
