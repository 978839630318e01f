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
import { safeMessageOf, withDeadlineAfterAbort } from '../../kit/index.ts'
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
import { withCalls } from '../open-calls.ts'
import { Superseded } from './confirm-run.ts'
import { RunLimits } from './run-limits.ts'

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
  /** Called when the action logs. */
  log(): Log
  /** Returns what it has logged so far, to be kept with the run. */
  logged(): string | null
  /** Aborts the run: it is repeated. */
  readonly signal?: AbortSignal
  /** How long to wait for an action after its timeout, before the run fails anyway. By default its process is ended. */
  readonly lateMs?: number
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
    const limits = new RunLimits(host, claimed, how)
    const work = runListener(action, contexts, {
      listener,
      data: JSON.parse(data!) as unknown,
      message: {
        id: claimed.message,
        attempt: claimed.failures + 1,
        dispatched_at: new Date(claimed.dispatchedAt),
      },
      log: () => how.log(),
      signal: () => limits.signal(),
      assertNotStopped() {
        if (limits.stopped !== undefined) throw limits.stopped.reason
      },
      once: how.once ? limits : undefined,
      progress: how.progress,
    })
    try {
      await (how.lateMs === undefined ? work : untilLate(work, limits.signal(), how.lateMs))
      return { kind: how.once ? 'recorded' : 'done' }
    } catch (error) {
      if (how.signal?.aborted) return { kind: 'repeated', reason: 'Its worker stopped' }
      return describeFailure(limits.stopped === undefined ? error : limits.stopped.reason)
    } finally {
      limits.end()
    }
  }

  return { run, close: () => closers.disposeAsync() }
}

/** Waits for an action, after its timeout only for a while. */
function untilLate(work: Promise<void>, signal: AbortSignal, lateMs: number): Promise<void> {
  return withDeadlineAfterAbort(work, {
    signal,
    limitMs: () => lateMs,
    late: () => {
      throw signal.reason
    },
  })
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
