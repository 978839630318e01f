import type { Action, Context, Log, Principal } from '../contract/index.ts'
import type { ManifestMethod } from '../release/index.ts'
import { makeActionContext, type ContextSources } from './action-context.ts'
import { ActionResponse } from './action-response.ts'
import type { SchemaProblem } from './compile-schema.ts'
import { findConflict, UncaughtConflict } from './conflicts.ts'
import { ActionFailure, ActionProblem, InvalidRequest } from './problem.ts'
import { makeWriter, type WriteSources } from './write-result.ts'

/** Who calls a method, and for which request. */
export interface MethodCaller {
  readonly principal: Principal
  readonly log: Log
  readonly signal: AbortSignal
}

/** Values of a path and a query are texts, as in a URL. */
export interface MethodInput {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string | readonly string[]>>
  readonly body?: unknown
}

/** A method that code of Waypost calls, without a route. */
export interface CallableMethod {
  /** Returns what does not match the schema of the body. */
  checkBody(body: unknown): readonly SchemaProblem[] | undefined
  /**
   * Checks the input, runs the action and writes its result, as for a request: the problems are the same.
   * @returns the JSON text of the result; undefined if it has none
   */
  call(input: MethodInput, caller: MethodCaller): Promise<string | undefined>
}

/** Makes a method callable. @param name of the method in messages */
export function makeCallable(
  sources: ContextSources & WriteSources,
  { name, method, action }: { readonly name: string; readonly method: ManifestMethod; readonly action: Action },
): CallableMethod {
  const { schemas, manifest } = sources
  const validator = (schema: ManifestMethod['request'], part: 'path' | 'query' | 'body') =>
    schema === undefined ? undefined : schemas.validator(schema, manifest.schemas, part)
  const checks = {
    params: validator(method.params, 'path'),
    query: validator(method.query, 'query'),
    body: validator(method.request, 'body'),
  }
  const write = makeWriter(sources, method, name)
  const statuses = Object.keys(method.responses).map(Number)
  const success = Math.min(...statuses.filter((status) => status < 300))
  return {
    checkBody: (body) => checks.body?.(body),
    async call(input, caller) {
      const request = {
        params: { ...input.params },
        query: { ...input.query },
        body: input.body,
      }
      const problems = [checks.params?.(request.params), checks.query?.(request.query), checks.body?.(request.body)]
      const found = problems.flatMap((one) => one ?? [])
      if (found.length > 0) throw new InvalidRequest(found)
      try {
        const context = makeActionContext(sources, caller)
        const result: unknown = await action.handle(
          { method: method.method, url: '', headers: {}, ...request },
          context,
        )
        const [status, body] = result instanceof ActionResponse ? [result.status, result.body] : [success, result]
        const { payload } = write(status, body, undefined)
        return payload as string | undefined // a class writes JSON
      } catch (error) {
        const { params, query, body } = request
        const parts = {
          body: [method.request, body],
          path: [method.params, params],
          query: [method.query, query],
        } as const
        throw (
          findConflict(error, { method: method.method, schemas: manifest.schemas, parts }) ?? ActionFailure.of(error)
        )
      }
    },
  }
}

/**
 * Runs work in a transaction of a connection. The methods that it calls take part in it.
 * @param work gets the client of the connection within the transaction
 */
export async function callInTransaction<Value>(
  sources: ContextSources,
  connection: string,
  { caller, work }: { readonly caller: MethodCaller; work(client: unknown, context: Context): Promise<Value> },
): Promise<Value> {
  const context = makeActionContext(sources, caller)
  return context.transaction(connection as never, async (client) => work(client, context))
}

/** Why a method refused one of several rows in its body. */
export interface RowProblem {
  /** Its position in the body. */
  readonly index: number
  /** The property that is the reason, if one is. */
  readonly name: string | undefined
  readonly message: string
}

/** By this, `sql-table` says which of several rows an error is about. */
const rowPlace = Symbol.for('waypost.row-place')

/** Finds the row in the body of a method that an error of `call` is about; undefined if it is about none. */
export function findRowProblem(error: unknown): RowProblem | undefined {
  if (error instanceof ActionProblem) return readPlace(error.message, /^body\/(\d+)(?:\/([^:]+))?: (.*)$/s)
  const [first] = error instanceof InvalidRequest || error instanceof UncaughtConflict ? error.problems : []
  if (first !== undefined) return readPlace(`${first.path} ${first.message}`, /^body\/(\d+)(?:\/(\S+))? (.*)$/s)
  if (!(error instanceof UncaughtConflict)) return undefined
  const [index] = (error.cause as { readonly [rowPlace]?: readonly number[] })[rowPlace] ?? []
  return index === undefined ? undefined : { index, name: undefined, message: error.known.message }
}

function readPlace(text: string, pattern: RegExp): RowProblem | undefined {
  const [, index, name, message] = pattern.exec(text) ?? []
  return index === undefined ? undefined : { index: Number(index), name, message: message! }
}
