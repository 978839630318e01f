import { messageOf, variable, type Variables } from '../kit/index.ts'
import { loadActiveId, loadActiveRelease, shortId } from '../release/index.ts'
import type { Logger } from '../runtime/index.ts'
import { storeFact } from '../store/index.ts'
import { makeLogger } from './make-logger.ts'
import { openHost } from './open-host.ts'
import { openIdentity } from './open-identity.ts'
import { openPruner, type Pruner } from './open-pruner.ts'
import { readLogLevel, readPort } from './read-variables.ts'
import { reportServer, type ServerReport } from './report-server.ts'
import { catchStrayFailures } from './stray-failures.ts'
import { startServer, type WaypostServer } from './start-server.ts'

export interface ServeOptions {
  readonly folder: string
  readonly variables: Variables
  readonly port?: number | undefined
  /** Run cronjobs too: of all servers that do, one runs each slot. */
  readonly cron?: boolean
  /** How long after a release that did not come up it is tried again; 5,000 ms by default. */
  readonly retryMs?: number
}

/**
 * Serves the active release of System, and every one that is activated later, until it is closed. A release that does
 * not come up leaves the one before.
 */
export async function serve(options: ServeOptions): Promise<WaypostServer> {
  const { variables } = options
  const port = readPort(variables, options.port)
  const logger = makeLogger(readLogLevel(variables, 'info'))
  const closers: (() => Promise<unknown>)[] = []
  const close = () => closeInTime(closers.splice(0).toReversed(), logger)
  try {
    const host = await openHost(options)
    closers.push(() => host.close())
    const identity = await openIdentity(host, port === 0 ? undefined : `http://localhost:${port}`)
    const address = { host: variable(variables, 'HOST') ?? '0.0.0.0', port }
    const letStrayFailuresGo = catchStrayFailures({
      onRejection: (error) => logger.error({ err: error }, 'a promise that nobody awaited was rejected'),
      onException(error) {
        logger.fatal(
          { err: error },
          'an error outside of every request: this server stops, and should be started again',
        )
        process.exitCode = 1
        process.kill(process.pid, 'SIGTERM')
      },
    })
    const cron = options.cron ? { cron: {} } : {}
    const server = await startServer({ host, identity, logger, isDevelopment: false, address, ...cron })
    closers.push(() => server.close())
    const letGo = server.hold() // or a route would be 404 until the release has come up
    closers.push(async () => letStrayFailuresGo())
    await storeFact(host.system, 'origin', 'production')
    const report = await reportServer(host, identity)
    closers.push(() => report.stop())
    const follow = followActivations({ server, logger, report, retryMs: options.retryMs ?? 5000 })
    closers.push(() => follow.stop())
    await follow.catchUp()
    letGo()
    const stopPruning = keepPruning(
      openPruner(host, {
        settings: () => server.terms().settings,
        onPruned: (pruned) => logger.info({ pruned }, 'what was over is deleted'),
        onError: (error) => logger.warn({ err: error }, 'what is over cannot be deleted; it is tried again'),
      }),
    )
    closers.push(stopPruning)
    return { ...server, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Longer than requests in flight are waited for. */
const longestStepMs = 12_000
const stepAfterLateMs = 1000

/**
 * Takes the steps of an end. A database whose line is half open answers never: what waits for it is left behind, and
 * what comes then, which waits for the same, is not waited for as long again.
 */
async function closeInTime(steps: readonly (() => Promise<unknown>)[], logger: Logger): Promise<void> {
  let limitMs = longestStepMs
  for (const step of steps) {
    const late = Promise.withResolvers<void>()
    const timer = setTimeout(() => {
      logger.warn(`a part of this server did not stop within ${limitMs / 1000} s; it is left behind`)
      limitMs = stepAfterLateMs
      late.resolve()
    }, limitMs)
    await Promise.race([step(), late.promise]).finally(() => clearTimeout(timer))
  }
}

const pruneLookMs = 10 * 60_000

/** Looks now and then whether it is time to prune. @returns the way to stop */
function keepPruning(pruner: Pruner): () => Promise<void> {
  pruner.touch()
  const timer = setInterval(() => pruner.touch(), pruneLookMs).unref()
  return async () => {
    clearInterval(timer)
    await pruner.close(0)
  }
}

interface Following {
  readonly server: WaypostServer
  readonly logger: Logger
  readonly report: ServerReport
  readonly retryMs: number
}

/** Serves what is active, now and after each activation; one that fails is tried again. */
function followActivations({ server, logger, report, retryMs }: Following) {
  let served: string | undefined
  let hasFailed = false
  let running: Promise<void> = Promise.resolve()
  let retry: NodeJS.Timeout | undefined
  let isStopped = false

  async function bringUp(): Promise<void> {
    const release = await loadActiveRelease(server.host.system)
    if (isStopped || release === undefined || (release.id === served && !hasFailed)) return
    if (release.id !== served) {
      await report.say({ state: 'swapping', wanted: release.id })
      await server.serveRelease(release)
    }
    served = release.id
    hasFailed = false
    logger.info({ release: shortId(release.id) }, 'serving a release')
    await report.say({ state: 'serving', release: release.id })
  }

  function catchUp(): Promise<void> {
    clearTimeout(retry)
    running = running.then(bringUp).catch(async (error: unknown) => {
      hasFailed = true
      logger.error({ err: error }, 'the active release does not come up; what was served before stays')
      const wanted = await loadActiveId(server.host.system).catch(() => undefined)
      await report.say({ state: 'failed', wanted, error: messageOf(error) }).catch(() => undefined)
      if (!isStopped) retry = setTimeout(() => void catchUp(), retryMs).unref()
    })
    return running
  }

  const stopListening = server.feed.listen((changes) => {
    if (changes === 'reset' || changes.some((change) => change.kind === 'activation')) void catchUp()
  })
  return {
    catchUp,
    /** Waits for a release that is about to come up. */
    async stop() {
      isStopped = true
      clearTimeout(retry)
      stopListening()
      await running
    },
  }
}
