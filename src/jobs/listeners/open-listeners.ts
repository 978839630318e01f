import { sql, type Kysely } from 'kysely'
import type { ConnectionRegistry } from '../../connection/index.ts'
import type { Log } from '../../contract/index.ts'
import { makeDispatcher, type ClaimedRun, type RunResult } from '../../events/index.ts'
import {
  catalogOf,
  findDatabases,
  loadModules,
  resolveEnv,
  type Host,
  type LoadPlugins,
  type ReleaseToServe,
} from '../../host/index.ts'
import { safeMessageOf, toStorable, withDeadlineAfterAbort } from '../../kit/index.ts'
import type { PrepareConfig, ServicesOf } from '../../plugin/index.ts'
import { assertServable, resolveStack, useArtifacts, type ClosedModules } from '../../release/index.ts'
import {
  makeActions,
  makeDataCheck,
  makeSchemaCache,
  RunDiscarded,
  runListener,
  RunPostponed,
  type CodeSources,
} from '../../runtime/index.ts'
import { errors } from '../errors.ts'
import { withCalls } from '../open-calls.ts'
import { maxOnceSqliteMs } from './listener-terms.ts'

/** The resources that listeners use. */
interface ListenerSources {
  readonly host: Host
  readonly loadPlugins: LoadPlugins
  readonly services: ServicesOf
  readonly prepareConfig: PrepareConfig
  readonly registry: ConnectionRegistry
  readonly isDevelopment: boolean
  /** Called when the code of listeners was closed. */
  onClosed(closed: ClosedModules): void
}

/** How a run is executed. */
interface RunHow {
  readonly timeoutMs: number
  readonly once: boolean
  readonly log: Log
  /** Returns what it has logged so far, to be kept with the run. */
  logged(): string | null
  readonly signal: AbortSignal
  /** How long to wait for an action after its timeout, before the run fails anyway. */
  readonly lateMs: number
  progress(value: number, text?: string): void
  /** Called when the transaction of the run keeps all others from writing, on SQLite. */
  onLocked?(): Promise<void>
}

/** The listeners of one release, with their code. */
export interface ListenerSet {
  /** Never rejects. */
  run(run: ClaimedRun, how: RunHow): Promise<RunResult>
  close(): Promise<void>
}

/**
 * Loads the code of a release's listeners, and opens the connections of the release.
 * @throws the error of code that cannot be loaded
 */
export async function openListeners(sources: ListenerSources, toRun: ReleaseToServe): Promise<ListenerSet> {
  const { host, registry, prepareConfig, services } = sources
  const { manifest } = toRun.release
  assertServable(manifest)
  const { listeners = {} } = manifest
  const uses = Object.values(listeners)
  const env = resolveEnv(host, toRun.release)
  const use = useArtifacts(toRun.artifacts, sources)
  await using opened = new AsyncDisposableStack()
  opened.defer(async () => sources.onClosed(await use.end()))
  const plugins = await sources.loadPlugins({ ...toRun, manifest })
  const databases = findDatabases(manifest, plugins, host.system)
  const load: CodeSources['load'] = (wanted) => loadModules(host, toRun, wanted)
  const code = { load, classes: plugins.actions, steps: plugins.steps, prepareConfig, databases, services }
  const made = await makeActions({ ...code, ...(await load(uses)) }, uses)
  const actions = new Map(Object.keys(listeners).map((name, index) => [name, made[index]!]))
  const connections = await registry.acquire(manifest.connections, plugins.connections)
  opened.defer(() => connections.release())
  const check = makeDataCheck(makeSchemaCache(), () => manifest)
  const dispatcher = makeDispatcher(host.system, catalogOf(manifest), check)
  const contexts = withCalls(
    { connections, clock: host.clock, dispatcher, env },
    { host, release: toRun.release, code },
  )
  const closers = opened.move()

  async function run(claimed: ClaimedRun, how: RunHow): Promise<RunResult> {
    const { listener, data, event } = claimed
    const action = actions.get(listener)
    if (action === undefined) return { kind: 'repeated', delayMs: 1000 } // of another release
    const handled = listeners[listener]!.event
    if (event !== handled)
      return {
        kind: 'dead',
        reason: `In the active release, the listener handles the event "${handled}", not "${event}"`,
      }
    const [problem] = check(event, data!) ?? []
    if (problem !== undefined)
      return {
        kind: 'dead',
        reason: `The data does not match the schema of the event: ${problem.path} ${problem.message}`,
      }
    const stop = new AbortController()
    const signal = AbortSignal.any([how.signal, stop.signal])
    const limits = limitRun(host, claimed, { ...how, stop: (error) => stop.abort(error) })
    const work = runListener(action, contexts, {
      listener,
      data: JSON.parse(data!) as unknown,
      message: {
        id: claimed.message,
        attempt: claimed.failures + 1,
        dispatched_at: new Date(claimed.dispatchedAt),
      },
      log: how.log,
      signal,
      once: how.once ? limits.once : undefined,
      progress: how.progress,
    })
    try {
      await withDeadlineAfterAbort(work, {
        signal,
        limitMs: () => how.lateMs,
        late: () => {
          throw signal.reason
        },
      })
      return { kind: how.once ? 'recorded' : 'done' }
    } catch (error) {
      if (how.signal.aborted) return { kind: 'repeated', reason: 'Its worker stopped' }
      return describeFailure(stop.signal.aborted ? stop.signal.reason : error)
    } finally {
      limits.end()
    }
  }

  return { run, close: () => closers.disposeAsync() }
}

const idleReserveMs = 5000

type Limited = Pick<RunHow, 'timeoutMs' | 'onLocked' | 'logged'> & { stop(error: Error): void }

/** Stops a run when it takes too long. */
function limitRun(host: Host, run: ClaimedRun, { timeoutMs, onLocked, logged, stop }: Limited) {
  const name = run.listener
  const begin = (ms: number, error: Error) => setTimeout(() => stop(error), ms)
  const limit = begin(timeoutMs, errors.WP_SERVER_LISTENER_TIMEOUT({ name, seconds: timeoutMs / 1000 }))
  let onceLimit: NodeJS.Timeout | undefined
  return {
    once: {
      async begin(transaction: unknown) {
        if (host.system.kind === 'postgresql') return limitIdle(transaction, timeoutMs + idleReserveMs)
        clearTimeout(onceLimit) // not counted: how long it waited for the transactions of others
        onceLimit = begin(maxOnceSqliteMs, errors.WP_SERVER_LISTENER_ONCE({ name, seconds: maxOnceSqliteMs / 1000 }))
        await onLocked?.() // before the code, which may block this process
      },
      confirm: (transaction: unknown) => confirmRun(host, transaction, { run, log: logged() }),
    },
    end() {
      clearTimeout(limit)
      clearTimeout(onceLimit)
    },
  }
}

/** PostgreSQL ends the transaction of a process that is frozen, so that others can repeat the run. */
async function limitIdle(transaction: unknown, ms: number): Promise<void> {
  const limit = sql.raw(`set local idle_in_transaction_session_timeout = ${Math.ceil(ms)}`)
  await limit.execute(transaction as Kysely<unknown>)
}

/** Thrown in the transaction of a run that another worker has taken over, or that was cancelled. */
class Superseded extends Error {}

/** The last statement of a run with `once`: it takes effect only if the run still belongs to its worker. */
async function confirmRun(
  { system }: Host,
  transaction: unknown,
  { run: { id, turn }, log }: { readonly run: ClaimedRun; readonly log: string | null },
): Promise<void> {
  const now = system.now()
  const { numAffectedRows = 0n } = await sql`update waypost_run
    set status = 'done', turn = turn + 1, worker_id = null, finished_at = ${now}, latency_ms = ${now} - started_at,
      outcome = null, log = ${log === null ? null : toStorable(log)}
    where id = ${id} and turn = ${turn} and status = 'running'`.execute(transaction as Kysely<unknown>)
  if (numAffectedRows === 0n) throw new Superseded('The run was taken over by another worker, or cancelled')
}

function describeFailure(error: unknown): RunResult {
  if (error instanceof Superseded) return { kind: 'recorded' }
  if (error instanceof RunDiscarded) return { kind: 'discarded', reason: error.message }
  if (error instanceof RunPostponed) return { kind: 'postponed', until: error.until }
  const place = error instanceof Error ? placeOf(resolveStack(String(error.stack))) : undefined
  return { kind: 'failed', reason: [safeMessageOf(error), ...(place === undefined ? [] : [place])].join('\n') }
}

/** The first place of a stack that is in a file of the project. */
function placeOf(stack: string): string | undefined {
  const line = stack.split('\n').find((one) => /^\s+at .*\bsrc\/[^:]+:\d+/.test(one) && !one.includes('node_modules'))
  return line?.trim()
}
