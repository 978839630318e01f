import { setTimeout as pause } from 'node:timers/promises'
import { variable, withDeadline, type Variables } from '../../kit/index.ts'
import {
  openOpsListener,
  watchPressure,
  type Address,
  type Logger,
  type OpsListener,
  type Pressure,
} from '../../runtime/index.ts'
import { storeFact } from '../../store/index.ts'
import {
  makeLogger,
  awaitHost,
  nameServer,
  openIdentity,
  type Identity,
  readOpsAddress,
  readPressureLimit,
  readStopLimits,
  readLogLevel,
  readPort,
  reportServer,
  type ServerReport,
  openTracing,
} from '../../host/index.ts'
import { openPruner, startPruning } from '../../jobs/index.ts'
import { startServer, type WaypostServer } from '../start-server.ts'
import { Follower } from './follow-activations.ts'
import { logDeliveries, logRequests } from './log-requests.ts'
import { stopAfterStrays } from '../unhandled-errors.ts'
import { warnUndelivered } from './warn-undelivered.ts'

export interface ServeOptions {
  readonly folder: string
  readonly variables: Variables
  readonly port?: number | undefined
  /** Share the port with other processes of this host that do too. */
  readonly reusePort?: boolean
  /** A port for health and metrics without a token. */
  readonly opsPort?: number | undefined
  /** Run cronjobs and deliver events too: of all servers that do, one runs each slot. */
  readonly cron?: boolean
  /** How long after a release that did not come up it is tried again, then twice as long; 1,000 ms by default. */
  readonly retryMs?: number
  /** How often it looks for deliveries that nobody delivers; 60,000 ms by default. */
  readonly warnMs?: number
  /** Ends the wait for a database that cannot be reached when it starts. */
  readonly signal?: AbortSignal
  /** Where it logs; stdout by default. */
  readonly logger?: Logger
  /** Reads the variables as they are now, so that a plan knows what is set by then. */
  readVariables?(): Variables
  /** Brings the variables up to date before a release is brought up: what it lacked may be set since. */
  refresh?(): void
}

/** A server that follows activations. */
export interface ServingServer extends WaypostServer {
  /** The port for health and metrics, if there is one, and where it is bound. */
  readonly ops: { readonly host: string; readonly port: number } | undefined
  /**
   * Ends it: it is not ready any more, answers what is under way, and closes what it holds.
   * @param isHurried nobody has to learn of it before
   */
  close(isHurried?: boolean): Promise<void>
}

/** Longer than the step that waits for requests in flight. */
const stepSlackMs = 2000

/**
 * Serves the active release of System, and every one that is activated later, until it is closed. A release that does
 * not come up leaves the one before.
 */
export async function serve(options: ServeOptions): Promise<ServingServer> {
  const { variables } = options
  const port = readPort(variables, options.port)
  const address = { host: variable(variables, 'HOST') ?? '0.0.0.0', port, reusePort: options.reusePort ?? false }
  const opsAddress = readOpsAddress(variables, options.opsPort)
  const stopping = readStopLimits(variables)
  const tracing = await openTracing(variables)
  const logSecrets = new Set(variable(variables, 'WAYPOST_SECRET')?.split(','))
  const logger =
    options.logger ?? makeLogger(readLogLevel(variables, 'info'), { secrets: logSecrets, fields: tracing?.ids })
  await using opened = new AsyncDisposableStack()
  const defer = deferWithDeadline(opened, { logger, longestStepMs: stopping.limitMs + stepSlackMs })
  defer(async () => tracing?.close())
  const host = await awaitHost({
    ...options,
    logSecrets,
    onStatement: tracing?.statement,
    onUnavailable: (error) => logger.warn({ reason: error.message }, 'System cannot be reached; retrying for 60 s'),
  })
  defer(() => host.close())
  const identity = await openIdentity(host, port === 0 ? undefined : `http://localhost:${port}`)
  defer(stopAfterStrays(logger))
  const pressure = openPressure(options, logger)
  defer(async () => pressure?.stop())
  let ops: OpsListener | undefined
  defer(async () => ops?.close()) // behind the server, so that it tells to the end that it is stopping
  const server = await startServer({
    host,
    identity,
    logger,
    isDevelopment: false,
    address,
    pressure,
    tracing,
    stopLimitMs: stopping.limitMs,
    ...(options.cron ? { cron: {} } : {}),
    ...logRequests(logger),
  })
  defer(() => server.close())
  if (opsAddress !== undefined) ops = await openOps(server, opsAddress, logger)
  const report = await startServices({ options, server, identity, logger, defer })
  const drain = async () => {
    server.readiness.block('stopping', 'The server is shutting down')
    server.drain()
    const said = report.update({ state: 'stopping' }).catch(() => undefined)
    await withDeadline(said, stepSlackMs, () => undefined)
    await pause(stopping.delayMs)
  }
  const closing = opened.move()
  return {
    ...server,
    ops,
    async close(isHurried = false) {
      if (!isHurried && !closing.disposed) await drain()
      await closing.disposeAsync()
    },
  }
}

interface RunningServer {
  readonly options: ServeOptions
  readonly server: WaypostServer
  readonly identity: Identity
  readonly logger: Logger
  /** Takes the way to end each thing that was started. */
  defer(step: () => Promise<unknown>): void
}

/** What a server does beside answering: it follows activations, says so in System, prunes, delivers or sees to it. */
async function startServices({ options, server, identity, logger, defer }: RunningServer): Promise<ServerReport> {
  const { host } = server
  const letGo = server.hold(true) // or a route would be 404 until the release has come up
  await storeFact(host.system, 'origin', 'production')
  const name = nameServer({ port: server.port, reusePort: options.reusePort ?? false })
  const report = await reportServer(host, identity, { name, readVariables: options.readVariables })
  defer(() => report.stop())
  const { refresh, retryMs = 1000 } = options
  const follower = new Follower({ server, logger, report, retryMs, ...(refresh === undefined ? {} : { refresh }) })
  defer(() => follower.stop())
  await follower.start()
  letGo()
  defer(prune(server, logger))
  defer(
    options.cron
      ? logDeliveries({ server, identity, logger })
      : warnUndelivered({ server, logger, everyMs: options.warnMs }),
  )
  return report
}

const stepAfterLateMs = 1000

/**
 * Adds steps of a shutdown, each with a deadline. A step that misses its deadline is abandoned, and later steps get
 * less time, since they probably wait for the same database.
 * @param longestStepMs longer than requests in flight are waited for
 */
function deferWithDeadline(
  opened: AsyncDisposableStack,
  { logger, longestStepMs }: { readonly logger: Logger; readonly longestStepMs: number },
): (step: () => Promise<unknown>) => void {
  let limitMs = longestStepMs
  return (step) =>
    opened.defer(async () => {
      await withDeadline(step(), limitMs, () => {
        logger.warn(`a component did not stop within ${limitMs / 1000} s and was abandoned`)
        limitMs = stepAfterLateMs
      })
    })
}

function openPressure({ variables }: ServeOptions, logger: Logger): Pressure | undefined {
  const delayMs = readPressureLimit(variables)
  if (delayMs === undefined) return undefined
  return watchPressure({
    delayMs,
    onChange: (isHigh) =>
      isHigh
        ? logger.warn({ limitMs: delayMs }, 'server overloaded: refusing requests')
        : logger.info('server no longer overloaded: accepting requests'),
  })
}

function openOps(server: WaypostServer, address: Address, logger: Logger) {
  return openOpsListener({
    ...address,
    checkReadiness: server.readiness.find,
    measure: server.measure,
    onError: (error) => logger.warn({ err: error }, 'collecting metrics failed'),
  })
}

function prune(server: WaypostServer, logger: Logger): () => Promise<void> {
  return startPruning(
    openPruner(server.host, {
      settings: () => server.terms().settings,
      onPruned: (pruned) => {
        if (Object.keys(pruned).length > 0) logger.info({ pruned }, 'deleted expired data')
      },
      onError: (error) => logger.warn({ err: error }, 'deleting expired data failed; will be retried'),
    }),
  )
}
