import { setTimeout as pause } from 'node:timers/promises'
import { variable, withDeadline, type Variables } from '../../kit/index.ts'
import {
  openOpsServer,
  watchPressure,
  type Address,
  type Logger,
  assertCanListen,
  type OpsServer,
  type Pressure,
} from '../../runtime/index.ts'
import { storeFact } from '../../store/index.ts'
import {
  defaultIssuer,
  makeLogger,
  awaitHost,
  nameServer,
  openIdentity,
  type Identity,
  backendUrlOf,
  readBackendSettings,
  readOpsAddress,
  type Host,
  readPressureLimit,
  readStopLimits,
  readLogLevel,
  readBaseUrl,
  readPort,
  reportServer,
  type ServerReport,
  openTracing,
} from '../../host/index.ts'
import { openPruner, startPruning } from '../../jobs/index.ts'
import { hasAdministrator, makeFirstRunCode } from '../../auth/index.ts'
import { startServer, type WaypostServer } from '../start-server.ts'
import { Follower } from './follow-activations.ts'
import { logDeliveries, logRequests } from './log-requests.ts'
import { stopOnUnhandledErrors } from '../unhandled-errors.ts'
import { warnUndelivered } from './warn-undelivered.ts'

export interface ServeOptions {
  readonly folder: string
  readonly variables: Variables
  readonly port?: number | undefined
  /** Share the port with other processes of this host that set this too. */
  readonly reusePort?: boolean
  /** A port for health and metrics without a token. */
  readonly opsPort?: number | undefined
  /** Also run cronjobs and deliver events. Of all servers that do, one runs each slot. */
  readonly cron?: boolean
  /** Delay before a failed release is retried, then doubled; 1,000 ms by default. */
  readonly retryMs?: number
  /** Interval of the check for undelivered events; 60,000 ms by default. */
  readonly warnMs?: number
  /** Make the code that creates the first administrator, if there is none: everyone who reads the output may have it. */
  readonly makeCode?: boolean
  /** Aborts waiting for an unreachable database at start. */
  readonly signal?: AbortSignal
  /** The log; stdout by default. */
  readonly logger?: Logger
  /** Returns the current variables, so that a plan shows which are set. */
  readVariables?(): Variables
  /** Reloads the variables before a release is loaded, because missing ones may have been set since. */
  refresh?(): void
}

/** A server that follows activations. */
export interface ServingServer extends WaypostServer {
  /**
   * The address in tokens, links and examples, if it is another port of this machine, which an earlier command has
   * stored, and WAYPOST_BASE_URL does not say that a proxy or a mapped port leads here.
   */
  readonly otherIssuer: string | undefined
  /** The address of the port for health and metrics, if there is one. */
  readonly ops: { readonly host: string; readonly port: number } | undefined
  /** The backend, unless it is off. */
  readonly backend:
    | {
        readonly url: string
        readonly hasAdministrator: boolean
        /** The code that creates the first administrator, if there is none and `makeCode` is set. */
        readonly code: string | undefined
      }
    | undefined
  /**
   * Stops the server: it reports that it is not ready, answers requests in flight and releases its resources.
   * @param isImmediate stop immediately, without telling load balancers first
   */
  close(isImmediate?: boolean): Promise<void>
}

/** Additional time for the step that waits for requests in flight. */
const stepSlackMs = 2000

/**
 * Serves the active release of System, and each later activation, until closed. If a release fails, the previous one
 * stays.
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
    options.logger ?? (await makeLogger(readLogLevel(variables, 'info'), { secrets: logSecrets, fields: tracing?.ids }))
  await using opened = new AsyncDisposableStack()
  const defer = deferWithDeadline(opened, { logger, maxStepMs: stopping.limitMs + stepSlackMs })
  defer(async () => tracing?.close())
  const host = await awaitHost({
    ...options,
    logSecrets,
    onStatement: tracing?.statement,
    onUnavailable: (error) => logger.warn({ reason: error.message }, 'System cannot be reached; retrying for 60 s'),
  })
  defer(() => host.close())
  const identity = await openIdentity(host, {
    issuer: port === 0 ? defaultIssuer : readBaseUrl(`http://localhost:${port}`)!,
    onStore: () => assertCanListen(address),
  })
  defer(stopOnUnhandledErrors(logger))
  const pressure = openPressure(options, logger)
  defer(async () => pressure?.stop())
  let ops: OpsServer | undefined
  defer(async () => ops?.close()) // closed after the server, so that it reports the shutdown to the end
  const server = await startServer({
    host,
    identity,
    logger,
    isDevelopment: false,
    address,
    isStarting: true,
    pressure,
    tracing,
    stopLimitMs: stopping.limitMs,
    ...(options.cron ? { cron: {} } : {}),
    ...logRequests(logger),
  })
  defer(() => server.close())
  if (opsAddress !== undefined) ops = await openOps(server, opsAddress, logger)
  const backend = await describeBackend(host, identity, options)
  const report = await startServices({ options, server, identity, logger, defer })
  const drain = async () => {
    server.readiness.block('stopping', 'The server is shutting down')
    server.drain()
    const reported = report.update({ state: 'stopping' }).catch(() => undefined)
    await withDeadline(reported, stepSlackMs, () => undefined)
    await pause(stopping.delayMs)
  }
  const closing = opened.move()
  const isBaseGiven = variable(variables, 'WAYPOST_BASE_URL') !== undefined
  return {
    ...server,
    otherIssuer: port === 0 || isBaseGiven ? undefined : findOtherPort(identity.issuer, port),
    ops,
    backend,
    async close(isImmediate = false) {
      if (!isImmediate && !closing.disposed) await drain()
      await closing.disposeAsync()
    },
  }
}

async function describeBackend(
  host: Host,
  { issuer }: Identity,
  { makeCode = false }: ServeOptions,
): Promise<ServingServer['backend']> {
  const url = backendUrlOf(readBackendSettings(host.variables), issuer)
  if (url === undefined) return undefined
  const isAdministered = await hasAdministrator(host.system)
  const code = makeCode && !isAdministered ? await makeFirstRunCode(host) : undefined
  return { url: `${url}/backend`, hasAdministrator: isAdministered, code }
}

interface RunningServer {
  readonly options: ServeOptions
  readonly server: WaypostServer
  readonly identity: Identity
  readonly logger: Logger
  /** Adds a step of the shutdown. */
  defer(step: () => Promise<unknown>): void
}

/**
 * Starts the background work of a server: following activations, reporting its state in System, pruning, and delivering
 * events or warning if no process does.
 */
async function startServices({ options, server, identity, logger, defer }: RunningServer): Promise<ServerReport> {
  const { host } = server
  await storeFact(host.system, 'origin', 'production')
  const name = nameServer({ port: server.port, reusePort: options.reusePort ?? false })
  const report = await reportServer(host, identity, { name, readVariables: options.readVariables })
  defer(() => report.stop())
  const { refresh, retryMs = 1000 } = options
  const follower = new Follower({ server, logger, report, retryMs, ...(refresh === undefined ? {} : { refresh }) })
  defer(() => follower.stop())
  await follower.start()
  server.started()
  defer(prune(server, logger))
  defer(
    options.cron
      ? logDeliveries({ server, identity, logger })
      : warnUndelivered({ server, logger, intervalMs: options.warnMs }),
  )
  return report
}

const stepAfterLateMs = 1000

/**
 * Adds steps of a shutdown, each with a deadline. A step that misses its deadline is abandoned, and later steps get
 * less time, because they probably wait for the same database.
 * @param maxStepMs longer than the wait for requests in flight
 */
function deferWithDeadline(
  opened: AsyncDisposableStack,
  { logger, maxStepMs }: { readonly logger: Logger; readonly maxStepMs: number },
): (step: () => Promise<unknown>) => void {
  let limitMs = maxStepMs
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
  return openOpsServer({
    ...address,
    checkReadiness: server.readiness.check,
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

function findOtherPort(issuer: string, port: number): string | undefined {
  const { protocol, hostname, port: stored } = new URL(issuer)
  return protocol === 'http:' && hostname === 'localhost' && Number(stored || 80) !== port ? issuer : undefined
}
