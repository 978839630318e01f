import { AsyncLocalStorage } from 'node:async_hooks'
import type { OpenConnection } from '../contract/index.ts'
import type { Dispatcher, Prepared, PreparedMessage } from '../events/index.ts'
import { errors } from './errors.ts'

export interface OpenTransaction {
  readonly client: unknown
  /** Runs work in a savepoint of the transaction, if the connection has savepoints. */
  readonly savepoint: OpenConnection['savepoint']
  /**
   * Messages dispatched in a transaction on another connection than System. They are stored after the transaction has
   * committed and the action has succeeded.
   */
  readonly queued: Prepared[]
  /**
   * Dispatches that are being stored in this transaction. It commits only after all of them, even if the action does
   * not await them.
   */
  readonly storing: Promise<void>[]
  /** Messages dispatched in a transaction on System, which are stored at its end with one statement. */
  readonly messages: PreparedMessage[]
  /** Characters of their data. */
  messageSize: number
  /** Delayed dispatches and cancellations in a transaction on System, which are written at its end. */
  readonly delayed: Prepared[]
  /** Set when a nested part failed. The transaction then cannot commit, even if the action catches the error. */
  failure: { readonly error: unknown } | undefined
  /** The savepoint that is open, if any: savepoints of one transaction cannot overlap. */
  busy: Promise<void> | undefined
  /** Calls of methods that have not ended. */
  readonly calls: Set<Promise<unknown>>
  /** Whether its work has ended, so that no call can be a part of it. */
  hasEnded: boolean
}

export type OpenTransactions = ReadonlyMap<string, OpenTransaction>
export type Work = (client: never) => Promise<never>

/** The transactions around the running code, across awaits. */
const openTransactions = new AsyncLocalStorage<OpenTransactions>()

/** Returns the transactions around the running code, by connection, the outermost first. */
export function getOpenTransactions(): OpenTransactions | undefined {
  return openTransactions.getStore()
}

export function makeOpenTransaction(
  client: unknown,
  { savepoint, queued = [] }: Pick<OpenTransaction, 'savepoint'> & { readonly queued?: Prepared[] },
): OpenTransaction {
  return {
    client,
    savepoint,
    queued,
    storing: [],
    messages: [],
    messageSize: 0,
    delayed: [],
    failure: undefined,
    busy: undefined,
    calls: new Set(),
    hasEnded: false,
  }
}

/** Work of a transaction. */
interface Committed {
  readonly work: Work
  readonly dispatcher: Dispatcher
  /** The last statement. */
  readonly last?: ((client: unknown) => Promise<void>) | undefined
}

/** Runs work within a transaction that was opened. */
export async function runAndCommit(
  name: string,
  opened: OpenTransaction,
  { work, dispatcher, last }: Committed,
): Promise<never> {
  const value = await runWithin(name, opened, () => work(opened.client as never))
  await dispatcher.store([...opened.delayed, ...opened.messages], opened.client, last === undefined)
  await last?.(opened.client)
  return value
}

async function runWithin<Value>(name: string, opened: OpenTransaction, work: () => Promise<Value>): Promise<Value> {
  const value = await openTransactions
    .run(new Map(openTransactions.getStore()).set(name, opened), work)
    .finally(() => (opened.hasEnded = true))
    .catch(async (error: unknown) => {
      await Promise.allSettled(opened.calls) // before the connection is used for something else
      throw error
    })
  if (opened.calls.size > 0) {
    await Promise.allSettled(opened.calls)
    throw errors.WP_RUNTIME_CALL_NOT_AWAITED()
  }
  await Promise.all(opened.storing)
  if (opened.failure !== undefined) throw opened.failure.error
  return value
}

/**
 * Runs a call of a method, which must end before the transactions around it do.
 * @throws WP_RUNTIME_CALL_NOT_AWAITED if one of them has ended
 */
export async function callWithin<Value>(call: () => Promise<Value>): Promise<Value> {
  const enclosing = [...(openTransactions.getStore()?.values() ?? [])]
  if (enclosing.some(({ hasEnded }) => hasEnded)) throw errors.WP_RUNTIME_CALL_NOT_AWAITED()
  const result = call()
  for (const { calls } of enclosing) {
    calls.add(result)
    // Also keeps a call that nothing awaits from ending the process: the transaction fails instead.
    result.catch(() => undefined).finally(() => calls.delete(result))
  }
  return result
}

/** A transaction keeps no more messages than this, and no more characters of data, until its end. */
const [maxMessages, maxMessageSize] = [500, 1_000_000]

/** Stores messages at the end of their transaction, or before if there are many. */
export async function storeAtEnd(
  transaction: OpenTransaction,
  messages: readonly PreparedMessage[],
  dispatcher: Dispatcher,
): Promise<void> {
  addMessages(transaction, messages)
  if (transaction.messages.length < maxMessages && transaction.messageSize < maxMessageSize) return
  transaction.messageSize = 0
  await dispatcher.store(transaction.messages.splice(0), transaction.client)
}

function addMessages(transaction: OpenTransaction, messages: readonly PreparedMessage[]): void {
  transaction.messages.push(...messages)
  transaction.messageSize += messages.reduce((sum, { data }) => sum + data.length, 0)
}

/** Runs a nested transaction on the same connection as part of the outer one. */
export async function runNested<Value>(transaction: OpenTransaction, work: () => Promise<Value>): Promise<Value> {
  try {
    return await work()
  } catch (error) {
    transaction.failure ??= { error }
    throw error
  }
}

/**
 * Runs work that may fail without failing the transactions around it: each gets a savepoint. What the work dispatches
 * belongs to them if it succeeds. Works of one transaction wait for each other.
 */
export async function runInSavepoints<Value>(work: () => Promise<Value>): Promise<Value> {
  const enclosing = openTransactions.getStore()
  if (enclosing === undefined) return work()
  return [...enclosing].reduceRight<() => Promise<Value>>(
    (inner, [name, outer]) =>
      () =>
        runInSavepoint(name, outer, inner),
    work,
  )()
}

async function runInSavepoint<Value>(name: string, outer: OpenTransaction, work: () => Promise<Value>): Promise<Value> {
  const { savepoint, client } = outer
  if (savepoint === undefined) return runNested(outer, work)
  while (outer.busy !== undefined) await outer.busy
  const { promise, resolve: free } = Promise.withResolvers<void>()
  outer.busy = promise
  const inner = makeOpenTransaction(client, { savepoint })
  let failure: { readonly error: unknown } | undefined
  const workWithin = async () => {
    try {
      return await runWithin(name, inner, work)
    } catch (error) {
      failure = { error }
      throw error
    }
  }
  try {
    const value = await savepoint(client, workWithin)
    outer.queued.push(...inner.queued)
    addMessages(outer, inner.messages)
    outer.delayed.push(...inner.delayed)
    return value
  } catch (error) {
    // The savepoint itself failed, so what the work did may not be undone.
    if (error !== failure?.error) outer.failure ??= { error }
    throw error
  } finally {
    outer.busy = undefined
    free()
  }
}
