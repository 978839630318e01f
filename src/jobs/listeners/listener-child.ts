// A child process of a worker: runs the code of listeners, so that it cannot delay or end deliveries.
import { setTimeout as pause } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { keepLog, makeLogger, openHost } from '../../host/index.ts'
import { isWaypostError, markActionLogger, readEnvironment, safeMessageOf } from '../../kit/index.ts'
import { loadActiveRelease } from '../../release/index.ts'
import type { Logger } from '../../runtime/index.ts'
import type { ListenerSet } from './open-listeners.ts'
import { openStandaloneListeners } from './open-standalone.ts'
import type { FromChild, ToChild } from './protocol.ts'

/** How long to wait until the release that the worker knows is the active one: `dev` stores it after it serves it. */
const awaitReleaseMs = 5000

const watchMs = 1000
const progressIntervalMs = 200
/** How many snapshots of a log are sent at once: what a run logged before it blocks this process must arrive. */
const maxImmediate = 20

let opened:
  | Promise<{ readonly set: ListenerSet; readonly logger: Logger; readonly secrets: ReadonlySet<string> }>
  | undefined

process.once('disconnect', () => process.exit())
if (!process.connected) process.exit()
watchParent()
process.on('message', (message: ToChild) => {
  if ('start' in message) opened = open(message.start)
  else void run(message)
})
// The worker decides when this process ends. Ctrl+C reaches all processes of a terminal.
process.on('SIGINT', () => undefined)
process.on('SIGTERM', () => undefined)

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

async function open({ folder, releaseId, logLevel }: Extract<ToChild, { start: unknown }>['start']) {
  try {
    const host = await openHost({ folder, variables: readEnvironment() })
    const logger = await makeLogger(logLevel, { file: 'stderr', secrets: host.logSecrets })
    let release = await loadActiveRelease(host.system)
    for (let waited = 0; release?.id !== releaseId && waited < awaitReleaseMs; waited += 50) {
      await pause(50)
      release = await loadActiveRelease(host.system)
    }
    if (release === undefined) throw new Error('No release is active')
    const set = await openStandaloneListeners(host, release, { logger })
    await send({ ready: true })
    return { set, logger, secrets: host.logSecrets }
  } catch (error) {
    await send({ failed: safeMessageOf(error), isExternal: isWaypostError(error) && error.kind === 'external' })
    return process.exit(1)
  }
}

async function run({ run: claimed, timeoutMs, once }: Extract<ToChild, { run: unknown }>): Promise<void> {
  const { set, logger, secrets } = await opened!
  const { id, turn } = claimed
  let nextAt = -Infinity
  const progress = (value: number, text?: string) => {
    if (performance.now() < nextAt) return // messages that are sent faster than they are read would fill the memory
    nextAt = performance.now() + progressIntervalMs
    void send({ progress: id, turn, value, text: text?.slice(0, 200) })
  }
  const sender = makeLogSender((log) => void send({ logged: id, turn, log }))
  const own = markActionLogger(logger.child({ listener: claimed.listener, run: id }))
  const kept = await keepLog(own, { secrets, onLine: () => sender.changed(kept.text) })
  const result = await set.run(claimed, {
    timeoutMs,
    once,
    log: kept.logger,
    logged: kept.text,
    signal: new AbortController().signal,
    lateMs: 2 ** 31 - 1, // the worker ends this process
    progress,
    onLocked: () => send({ locked: id, turn }),
  })
  sender.end()
  await send({ ended: id, turn, result, log: kept.text() })
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

function send(message: FromChild): Promise<void> {
  return new Promise((resolve) => {
    process.send!(message, () => resolve()) // an error means that the worker has ended, and so does this process
  })
}
