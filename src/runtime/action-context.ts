import { AsyncLocalStorage } from 'node:async_hooks'
import type { OutgoingHttpHeaders } from 'node:http'
import { connectionErrors, type ConnectionSet } from '../connection/index.ts'
import type { Context, DispatchOptions, EnvValues, Log, Principal, Response } from '../contract/index.ts'
import type { Dispatch, Dispatcher, PreparedMessage } from '../events/index.ts'
import type { Clock } from '../kit/index.ts'
import { ActionProblem } from './problem.ts'

/** What the contexts of one generation share. */
export interface ContextSources {
  readonly connections: ConnectionSet
  readonly dispatcher: Dispatcher
  readonly clock: Clock
  readonly env: EnvValues
}

export interface RequestSources {
  readonly principal: Principal | undefined
  readonly log: Log
  readonly signal: AbortSignal
}

/** What `context.respond` makes: told from a plain result by its class. */
export class ActionResponse implements Response {
  readonly status: number
  readonly body: unknown
  readonly headers: OutgoingHttpHeaders

  constructor(status: number, body: unknown, headers: OutgoingHttpHeaders = {}) {
    this.status = status
    this.body = body
    this.headers = headers
  }
}

interface OpenTransaction {
  readonly client: unknown
  /** Dispatches of a transaction that is not System's: they wait for its commit and the action's success. */
  readonly waiting: PreparedMessage[]
  /** Dispatches that are being stored in it: it commits when all are, awaited by the action or not. */
  readonly storing: Promise<void>[]
  /** Of a part that failed: the whole cannot commit, whatever is made of the error. */
  failure: { readonly error: unknown } | undefined
}
type OpenTransactions = ReadonlyMap<string, OpenTransaction>

/** Which transactions the running code is inside of; found again after every await. */
const open = new AsyncLocalStorage<OpenTransactions>()

/**
 * The context of one request, and what its action dispatched outside of a System transaction. Its functions may be taken
 * out of it. They are made when they are asked for, since most actions ask for one or two of them, and all it has comes
 * from its class: in an object literal each object would have a shape of its own, which V8 keeps until the next full
 * collection.
 */
export class ActionContext implements Context {
  readonly #sources: ContextSources
  readonly #request: RequestSources
  #dispatched: PreparedMessage[] | undefined
  #storing: Promise<void>[] | undefined

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

  get log(): Log {
    return this.#request.log
  }

  get signal(): AbortSignal {
    return this.#request.signal
  }

  get connection() {
    return (name: string): never =>
      (open.getStore()?.get(name)?.client ?? this.#sources.connections.get(name).client) as never
  }

  get transaction(): Context['transaction'] {
    return (name: string, work: Work): Promise<never> => this.#transact(name, work)
  }

  get dispatch(): Context['dispatch'] {
    return (event: string, data: unknown, options: DispatchOptions = {}) =>
      this.#keep({ event, data, users: options.users })
  }

  get problem() {
    return (status: number, detail: string): Error => new ActionProblem(status, detail)
  }

  get respond(): Context['respond'] {
    return (status, body, headers) => new ActionResponse(status, body, headers) as never
  }

  get now() {
    return (): Date => new Date(this.#sources.clock.now())
  }

  /** Whether anything waits to be stored. */
  get hasDispatched(): boolean {
    return this.#dispatched !== undefined || this.#storing !== undefined
  }

  /** Stores what waits; called when the action succeeded, before the response goes out. */
  async storeDispatched(): Promise<void> {
    await Promise.all(this.#storing ?? [])
    await this.#sources.dispatcher.store(this.#dispatched?.splice(0) ?? [])
  }

  /** Dispatches the result of a method that names an event. */
  dispatchResult(event: string, data: unknown): void {
    this.#hand([this.#sources.dispatcher.prepare({ event, data })], undefined)
  }

  async #transact(name: string, work: Work): Promise<never> {
    const outer = open.getStore()
    const inside = outer?.get(name)
    if (inside !== undefined) return join(inside, work)
    const connection = this.#sources.connections.get(name)
    if (connection.transaction === undefined) throw connectionErrors.WP_CONNECTION_TRANSACTION({ name })
    let waiting: PreparedMessage[] = []
    const value = await connection.transaction((client) => {
      waiting = [] // a connection may have tried before
      const opened: OpenTransaction = { client, waiting, storing: [], failure: undefined }
      return open.run(new Map(outer).set(name, opened), () => complete(opened, work))
    })
    this.#hand(waiting, outer)
    return value
  }

  /** One that the action does not await is awaited for it: a dispatch that fails fails its action, and nothing else. */
  #keep(dispatch: Dispatch): Promise<void> {
    const around = open.getStore()
    const stored = this.#dispatch(dispatch, around)
    stored.catch(() => undefined)
    ;(around?.get('System')?.storing ?? (this.#storing ??= [])).push(stored)
    return stored
  }

  async #dispatch(dispatch: Dispatch, around: OpenTransactions | undefined): Promise<void> {
    const { dispatcher } = this.#sources
    const message = dispatcher.prepare(dispatch)
    const inSystem = around?.get('System')
    if (inSystem === undefined) this.#hand([message], around)
    else await dispatcher.store([message], inSystem.client)
  }

  /** What a committed transaction dispatched goes to the one around it, or waits for the action's success. */
  #hand(messages: readonly PreparedMessage[], outer: OpenTransactions | undefined): void {
    const around = outer === undefined ? undefined : [...outer.values()].at(-1)
    ;(around?.waiting ?? (this.#dispatched ??= [])).push(...messages)
  }
}

export function makeActionContext(sources: ContextSources, request: RequestSources): ActionContext {
  return new ActionContext(sources, request)
}

type Work = (client: never) => Promise<never>

async function complete(opened: OpenTransaction, work: Work): Promise<never> {
  const value = await work(opened.client as never)
  await Promise.all(opened.storing)
  if (opened.failure !== undefined) throw opened.failure.error
  return value
}

/** A transaction inside one of the same connection is a part of it. */
async function join(inside: OpenTransaction, work: Work): Promise<never> {
  try {
    return await work(inside.client as never)
  } catch (error) {
    inside.failure ??= { error }
    throw error
  }
}
