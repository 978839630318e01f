import type { Action, Context, Log, Principal } from '../contract/index.ts'
import type { ManifestMethod } from '../release/index.ts'
import { makeActionContext, type ContextSources } from './action-context.ts'
import { ActionResponse } from './action-response.ts'
import type { SchemaProblem } from './compile-schema.ts'
import { findConflict } from './conflicts.ts'
import { ActionFailure, InvalidRequest } from './problem.ts'
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
