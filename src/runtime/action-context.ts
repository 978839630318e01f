import { connectionErrors, type ConnectionSet } from '../connection/index.ts'
import type { CallOptions, Context, DispatchOptions, EnvValues, Log, Principal } from '../contract/index.ts'
import { isDelayed, type Dispatcher, type Prepared } from '../events/index.ts'
import type { Clock } from '../kit/index.ts'
import { ActionResponse } from './action-response.ts'
import type { MethodCalls } from './calls/method-call.ts'
import { assertPrecondition } from './conditions.ts'
import { makeFileResponse } from './media/make-file-response.ts'
import { errors } from './errors.ts'
import {
  getOpenTransactions,
  makeOpenTransaction,
  runAndCommit,
  runNested,
  storeAtEnd,
  type OpenTransactions,
  type Work,
} from './open-transactions.ts'
import { ActionProblem } from './problem.ts'
import type { RequestSources } from './request-sources.ts'
import { RunDiscarded, RunPostponed } from './run-errors.ts'

/** Dependencies that all contexts of one generation share. */
export interface ContextSources {
  readonly connections: ConnectionSet
  readonly dispatcher: Dispatcher
  readonly clock: Clock
  readonly env: EnvValues
  /** Runs other methods of the release; undefined in scripts, which have none. */
  readonly calls?: MethodCalls | undefined
}

/**
 * The context of one request. It also collects what the action dispatches outside a System transaction. Functions can
 * be destructured from it. They are created on access, because most actions use only one or two of them. It is a class
 * because V8 would create a new hidden class for each object literal and keep it until the next full garbage
 * collection.
 */
const noState: Readonly<Record<string, unknown>> = Object.freeze(Object.create(null))

export class ActionContext implements Context {
  readonly #sources: ContextSources
  readonly #request: RequestSources
  #dispatched: Prepared[] | undefined
  #storing: Promise<void>[] | undefined
  #state: Record<string, unknown> | undefined
  #isClosed = false
  /** Whether a step responded, so that the action does not run. */
  isEndedByStep = false

  constructor(sources: ContextSources, request: RequestSources) {
    this.#sources = sources
    this.#request = request
  }

  get env(): EnvValues {
    return this.#sources.env
  }

  get principal(): Principal | undefined {
    return this.#request.principal
  }

  get state(): Readonly<Record<string, never>> {
    return (this.#state ?? noState) as Readonly<Record<string, never>>
  }

  /** Keeps the result of a step. */
  setState(name: string, value: unknown): void {
    this.#state ??= Object.create(null) as Record<string, unknown>
    this.#state[name] = value
  }

  /** Called when the response was sent: events would never be stored. */
  close(): void {
    this.#isClosed = true
  }

  get log(): Log {
    return this.#request.log
  }

  get accepts(): never {
    return (this.#request.accepts ?? 'application/json') as never
  }

  get signal(): AbortSignal {
    return this.#request.signal
  }

  get connection() {
    return (name: string): never =>
      (getOpenTransactions()?.get(name)?.client ?? this.#sources.connections.get(name).client) as never
  }

  get transaction(): Context['transaction'] {
    return (name: string, work: Work): Promise<never> => this.#transact(name, work)
  }

  get dispatch(): Context['dispatch'] {
    return (event: string, data: unknown, options: DispatchOptions = {}) =>
      this.#trackDispatch(() => this.#sources.dispatcher.prepare({ ...options, event, data }))
  }

  get cancel(): Context['cancel'] {
    return (event: string, key: string) =>
      this.#trackDispatch(() => this.#sources.dispatcher.prepareCancellation(event, key))
  }

  get call(): Context['call'] {
    const { calls } = this.#sources
    const call = async (operation: string, options: CallOptions = {}) => {
      if (calls === undefined) throw errors.WP_RUNTIME_CALL_SCRIPT({ operation })
      if (this.#isClosed) throw new TypeError('Methods cannot be called after the response was sent')
      return calls.call(operation, options, this.#request)
    }
    return call as Context['call']
  }

  get discard(): Context['discard'] {
    this.#assertListener('discard')
    return (reason: string) => new RunDiscarded(reason)
  }

  get retryAt(): Context['retryAt'] {
    this.#assertListener('retryAt')
    return (date: Date) => new RunPostponed(date)
  }

  get progress(): Context['progress'] {
    return this.#assertListener('progress')
  }

  #assertListener(name: string): Context['progress'] {
    const { progress } = this.#request
    if (progress === undefined) throw errors.WP_RUNTIME_NO_LISTENER({ name })
    return progress
  }

  get problem() {
    return (status: number, detail: string): Error => new ActionProblem(status, detail)
  }

  get precondition(): Context['precondition'] {
    return (etag) => {
      const { conditions } = this.#request
      if (conditions !== undefined) assertPrecondition(conditions, etag)
    }
  }

  get file(): Context['file'] {
    return async (source, options = {}) => {
      const { conditions, closeLater } = this.#request
      if (conditions === undefined || closeLater === undefined)
        throw new TypeError('context.file creates a response, but a cronjob has none')
      const asking = { request: conditions, now: this.#sources.clock.now(), closeLater }
      return makeFileResponse(source, options, asking) as never
    }
  }

  get respond(): Context['respond'] {
    return (status, body, headers) => new ActionResponse(status, body, headers) as never
  }

  get now() {
    return (): Date => new Date(this.#sources.clock.now())
  }

  /** Whether messages are waiting to be stored. */
  get hasDispatched(): boolean {
    return this.#dispatched !== undefined || this.#storing !== undefined
  }

  /** Stores waiting messages. Called after the action has succeeded, before the response is sent. */
  async storeDispatched(): Promise<void> {
    await Promise.all(this.#storing ?? [])
    await this.#sources.dispatcher.store(this.#dispatched?.splice(0) ?? [])
  }

  /** Dispatches the results of a method that has `dispatch`: in the transaction on System, if there is one. */
  dispatchResult(event: string, results: readonly unknown[]): void {
    const { dispatcher } = this.#sources
    const messages = results.map((data) => dispatcher.prepare({ event, data }))
    const inSystem = getOpenTransactions()?.get('System')
    if (inSystem === undefined) return this.#queueMessages(messages, undefined)
    const stored = storeAtEnd(inSystem, messages, dispatcher)
    stored.catch(() => undefined) // the transaction awaits it
    inSystem.storing.push(stored)
  }

  /** Runs work in a transaction on System with a last statement, which may also commit. */
  async transactSystem(
    work: (client: unknown) => Promise<void>,
    last: (client: unknown) => Promise<void>,
  ): Promise<void> {
    await this.#transact('System', work as unknown as Work, last)
  }

  async #transact(name: string, work: Work, last?: (client: unknown) => Promise<void>): Promise<never> {
    const enclosing = getOpenTransactions()
    const current = enclosing?.get(name)
    if (current !== undefined) return runNested(current, () => work(current.client as never))
    const connection = this.#sources.connections.get(name)
    if (connection.transaction === undefined) throw connectionErrors.WP_CONNECTION_TRANSACTION({ name })
    const { dispatcher } = this.#sources
    let waiting: Prepared[] = []
    const value = await connection.transaction((client) => {
      waiting = [] // the connection may be retrying
      const opened = makeOpenTransaction(client, { savepoint: connection.savepoint, queued: waiting })
      return runAndCommit(name, opened, { work, dispatcher, last })
    })
    this.#queueMessages(waiting, enclosing)
    return value
  }

  /** Tracks a dispatch that the action may not await. If storing it fails, the action fails. */
  #trackDispatch(prepare: () => Prepared): Promise<void> {
    if (this.#isClosed) return Promise.reject(new TypeError('Events cannot be dispatched after the response was sent'))
    const enclosing = getOpenTransactions()
    const stored = this.#dispatch(prepare, enclosing)
    stored.catch(() => undefined)
    ;(enclosing?.get('System')?.storing ?? (this.#storing ??= [])).push(stored)
    return stored
  }

  async #dispatch(prepare: () => Prepared, enclosing: OpenTransactions | undefined): Promise<void> {
    const message = prepare()
    const inSystem = enclosing?.get('System')
    if (inSystem?.hasEnded) throw errors.WP_RUNTIME_DISPATCH_LATE({ event: message.event })
    if (inSystem === undefined) this.#queueMessages([message], enclosing)
    else if (isDelayed(message)) inSystem.delayed.push(message)
    else await storeAtEnd(inSystem, [message], this.#sources.dispatcher)
  }

  /**
   * Passes messages of a committed transaction to the enclosing transaction, or keeps them until the action has
   * succeeded.
   */
  #queueMessages(messages: readonly Prepared[], enclosing: OpenTransactions | undefined): void {
    const innermost = enclosing === undefined ? undefined : [...enclosing.values()].at(-1)
    ;(innermost?.queued ?? (this.#dispatched ??= [])).push(...messages)
  }
}

export function makeActionContext(sources: ContextSources, request: RequestSources): ActionContext {
  return new ActionContext(sources, request)
}
