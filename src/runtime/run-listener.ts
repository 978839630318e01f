import type { Action, ListenerMessage, Log } from '../contract/index.ts'
import { ActionResponse } from './action-response.ts'
import { makeActionContext, type ContextSources } from './action-context.ts'
import { ActionProblem } from './problem.ts'
import { discardResult } from './raw-body.ts'
import type { RequestSources } from './request-sources.ts'

/** One run of a listener. */
export interface ListenerRun {
  readonly listener: string
  /** The data of the event. */
  readonly data: unknown
  readonly message: ListenerMessage
  /** Made when the action uses it, because most runs log nothing. */
  log(): Log
  /** Made when it is used, as the log is. */
  signal(): AbortSignal
  /** Throws if the signal was aborted: the run has failed, even if the action returns. */
  assertNotStopped(): void
  /**
   * Set if the run is one transaction of System: its first statement, and its last, which records that the run has succeeded
   * and throws if that is not so anymore. The last one may also commit.
   */
  readonly once?:
    | { begin(transaction: unknown): Promise<void>; confirm(transaction: unknown): Promise<void> }
    | undefined
  progress(value: number, text?: string): void
}

/** A class, like `ActionContext`: a literal with getters would have a hidden class of its own. */
class RunSources implements RequestSources {
  readonly principal = undefined
  readonly progress: ListenerRun['progress']
  readonly #run: ListenerRun

  constructor(run: ListenerRun) {
    this.#run = run
    this.progress = run.progress
  }

  get log(): Log {
    return this.#run.log()
  }

  get signal(): AbortSignal {
    return this.#run.signal()
  }
}

/**
 * Runs the action of a listener without a principal. Its result is discarded; dispatched messages are stored if it succeeds.
 * @throws any error of the action, or the problem that it returned
 */
export async function runListener(action: Action, sources: ContextSources, run: ListenerRun): Promise<void> {
  const { listener, data, message, once } = run
  const context = makeActionContext(sources, new RunSources(run))
  const parts = { method: 'EVENT', url: `listener:${listener}`, params: { listener }, query: {}, headers: {} }
  const handle = async () => {
    const result: unknown = await action.handle({ ...parts, body: data, message } as never, context)
    discardResult(result)
    run.assertNotStopped()
    if (result instanceof ActionResponse && result.status >= 400) {
      throw new ActionProblem(result.status, `The action returned status ${result.status}`)
    }
  }
  if (once === undefined) await handle()
  else {
    const work = async (client: unknown) => {
      await once.begin(client)
      await untilAborted(handle(), run.signal())
    }
    await context.transactSystem(work, (client) => once.confirm(client))
  }
  if (context.hasDispatched) await context.storeDispatched()
}

/** Rejects when the signal aborts, so that the transaction around the work is rolled back, even if the work does not stop. */
async function untilAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const abort = () => reject(signal.reason as Error)
  signal.addEventListener('abort', abort, { once: true })
  if (signal.aborted) abort()
  work.catch(() => undefined) // it may fail later, because its transaction has ended
  aborted.catch(() => undefined)
  try {
    await Promise.race([work, aborted])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
