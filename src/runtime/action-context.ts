import { AsyncLocalStorage } from 'node:async_hooks'
import type { OutgoingHttpHeaders } from 'node:http'
import { connectionErrors, type ConnectionSet } from '../connection/index.ts'
import type { Context, DispatchOptions, Log, Principal, Response } from '../contract/index.ts'
import type { Dispatcher, PreparedMessage } from '../events/index.ts'
import type { Clock } from '../kit/index.ts'
import { ActionProblem } from './problem.ts'

/** What the contexts of one generation share. */
export interface ContextSources {
  readonly connections: ConnectionSet
  readonly dispatcher: Dispatcher
  readonly clock: Clock
}

export interface RequestSources {
  readonly principal: Principal | undefined
  readonly log: Log
  readonly signal: AbortSignal
}

/** The context of one request, and what its action dispatched outside of a System transaction. */
export interface ActionContext extends Context {
  /** Stores what waits; called when the action succeeded, before the response goes out. */
  storeDispatched(): Promise<void>
  /** Dispatches the result of a method that names an event. */
  dispatchResult(event: string, data: unknown): void
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
}
type OpenTransactions = ReadonlyMap<string, OpenTransaction>

/** Which transactions the running code is inside of; found again after every await. */
const open = new AsyncLocalStorage<OpenTransactions>()

export function makeActionContext(sources: ContextSources, request: RequestSources): ActionContext {
  const dispatched: PreparedMessage[] = []
  const { connections, dispatcher, clock } = sources

  async function transaction(name: string, work: (client: never) => Promise<unknown>): Promise<unknown> {
    const outer = open.getStore()
    const inside = outer?.get(name)
    if (inside !== undefined) return work(inside.client as never)
    const connection = connections.get(name)
    if (connection.transaction === undefined) throw connectionErrors.WP_CONNECTION_TRANSACTION({ name })
    const waiting: PreparedMessage[] = []
    const value = await connection.transaction((client) => {
      waiting.length = 0
      return open.run(new Map(outer).set(name, { client, waiting }), () => work(client as never))
    })
    hand(waiting, outer)
    return value
  }

  /** What a committed transaction dispatched goes to the one around it, or waits for the action's success. */
  function hand(messages: readonly PreparedMessage[], outer: OpenTransactions | undefined): void {
    const around = outer === undefined ? undefined : [...outer.values()].at(-1)
    ;(around?.waiting ?? dispatched).push(...messages)
  }

  async function dispatch(event: string, data: unknown, options: DispatchOptions = {}): Promise<void> {
    const message = dispatcher.prepare({ event, data, users: options.users })
    const around = open.getStore()
    const inSystem = around?.get('System')
    if (inSystem !== undefined) await dispatcher.store([message], inSystem.client)
    else hand([message], around)
  }

  return {
    ...request,
    connection: (name: string) => (open.getStore()?.get(name)?.client ?? connections.get(name).client) as never,
    transaction: transaction as Context['transaction'],
    dispatch: dispatch as Context['dispatch'],
    problem: (status, detail) => new ActionProblem(status, detail),
    respond: (status, body, headers) => new ActionResponse(status, body, headers) as never,
    now: () => new Date(clock.now()),
    async storeDispatched() {
      await dispatcher.store(dispatched.splice(0))
    },
    dispatchResult(event, data) {
      dispatched.push(dispatcher.prepare({ event, data }))
    },
  }
}
