// A child process of a worker: runs the code of listeners, so that it cannot delay or end deliveries.
import { setTimeout as pause } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { makeLogger, openHost, openLogKeeper, type KeptLog } from '../../host/index.ts'
import { isWaypostError, markActionLogger, readEnvironment, safeMessageOf } from '../../kit/index.ts'
import { loadActiveRelease } from '../../release/index.ts'
import type { Logger } from '../../runtime/index.ts'
import type { ListenerSet } from './open-listeners.ts'
import { openStandaloneListeners } from './open-standalone.ts'
import type { FromChild, RunToStart, StartOrder, ToChild } from './protocol.ts'

/** How long to wait until the release that the worker knows is the active one: `dev` stores it after it serves it. */
const awaitReleaseMs = 5000

/** They are opened when runs need them. PostgreSQL writes commits that arrive together to the disk together. */
const poolSize = 20
const watchMs = 1000
const progressIntervalMs = 200
const gatherMs = 2
/** How many snapshots of a log are sent at once: what a run logged before it blocks this process must arrive. */
const maxImmediate = 20

interface Opened {
  readonly set: ListenerSet
  readonly logger: Logger
  readonly keepLog: Awaited<ReturnType<typeof openLogKeeper>>
}

let opened: Promise<Opened> | undefined

process.once('disconnect', () => process.exit())
if (!process.connected) process.exit()
process.on('message', (message: ToChild) => {
  if ('start' in message) start(message.start)
  else for (const one of JSON.parse(message.runs) as readonly RunToStart[]) void run(one)
})
// The worker decides when this process ends. Ctrl+C reaches all processes of a terminal.
process.on('SIGINT', () => undefined)
process.on('SIGTERM', () => undefined)
// Ctrl+Z too: a stopped process would keep the locks of its transactions, which on SQLite keep all others from writing.
process.on('SIGTSTP', () => undefined)

function start(order: StartOrder): void {
  if (!order.endsWithParent) watchParent()
  opened = open(order)
}

/** Ends this process with its worker, even while an action blocks the event loop: a thread of its own looks. */
function watchParent(): void {
  const code = `const parent = process.ppid
    setInterval(() => process.ppid === parent || process.kill(process.pid, 'SIGKILL'), ${watchMs})`
  const watch = new Worker(code, {
    eval: true,
    resourceLimits: { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 2 },
  })
  watch.unref()
}

async function open({ folder, releaseId, logLevel }: StartOrder): Promise<Opened> {
  try {
    const host = await openHost({ folder, variables: readEnvironment(), poolSize })
    const logger = await makeLogger(logLevel, { file: 'stderr', secrets: host.logSecrets })
    let release = await loadActiveRelease(host.system)
    for (let waited = 0; release?.id !== releaseId && waited < awaitReleaseMs; waited += 50) {
      await pause(50)
      release = await loadActiveRelease(host.system)
    }
    if (release === undefined) throw new Error('No release is active')
    const set = await openStandaloneListeners(host, release, { logger })
    await send({ ready: true })
    return { set, logger, keepLog: await openLogKeeper(host.logSecrets) }
  } catch (error) {
    await send({ failed: safeMessageOf(error), isExternal: isWaypostError(error) && error.kind === 'external' })
    return process.exit(1)
  }
}

async function run({ run: claimed, timeoutMs, once }: RunToStart): Promise<void> {
  const { set, logger, keepLog } = await opened!
  const { id, turn } = claimed
  let nextAt = -Infinity
  const progress = (value: number, text?: string) => {
    if (performance.now() < nextAt) return // messages that are sent faster than they are read would fill the memory
    nextAt = performance.now() + progressIntervalMs
    void send({ progress: id, turn, value, text: text?.slice(0, 200) })
  }
  let kept: KeptLog | undefined
  let sender: ReturnType<typeof makeLogSender> | undefined
  const keep = () => {
    const own = markActionLogger(logger.child({ listener: claimed.listener, run: id }))
    sender = makeLogSender((log) => void send({ logged: id, turn, log }))
    return keepLog(own, ({ text }) => sender!.changed(text))
  }
  const logged = () => kept?.text() ?? null
  underWay++
  const result = await set.run(claimed, {
    timeoutMs,
    once,
    log: () => (kept ??= keep()).logger,
    logged,
    progress,
    onLocked: () => send({ locked: id, turn }),
  })
  sender?.end()
  underWay--
  sendSoon({ ended: id, turn, result, log: logged() })
}

/** Sends snapshots of a log, few of them if a run logs much. */
function makeLogSender(sendLog: (log: string | null) => void) {
  let sent = 0
  let timer: NodeJS.Timeout | undefined
  return {
    changed(text: () => string | null): void {
      if (sent++ < maxImmediate) return sendLog(text())
      timer ??= setTimeout(() => {
        timer = undefined
        sendLog(text())
      }, progressIntervalMs)
    },
    end: () => clearTimeout(timer),
  }
}

let waiting: FromChild[] = []
let underWay = 0
let timer: NodeJS.Timeout | undefined

/** Sends a message with others: those of this turn of the event loop, and those of runs that may end soon. */
function sendSoon(message: FromChild): void {
  waiting.push(message)
  if (waiting.length > underWay) setImmediate(flush)
  else timer ??= setTimeout(flush, gatherMs)
}

/** Sends a message before code that may block this process. */
function send(message: FromChild): Promise<void> {
  waiting.push(message)
  return flush()
}

async function flush(): Promise<void> {
  clearTimeout(timer)
  timer = undefined
  if (waiting.length === 0) return
  const messages = waiting
  waiting = []
  const { promise, resolve } = Promise.withResolvers<void>()
  process.send!(JSON.stringify(messages), () => resolve()) // an error means that the worker has ended, and so does this process
  return promise
}
