import { EventEmitter } from 'node:events'
import { Readable } from 'node:stream'
import type { CallOptions, Log, Principal, Request } from '../../contract/index.ts'
import { isJsonType, isWaypostError } from '../../kit/index.ts'
import type { ManifestMethod, ManifestRoute } from '../../release/index.ts'
import { makeActionContext, type ContextSources } from '../action-context.ts'
import { makeRequestCheck, type CheckSources } from '../check-request.ts'
import { errors } from '../errors.ts'
import { ItemStream } from '../media/item-stream.ts'
import { isItemTypeOf, resultTypesOf } from '../media/negotiate.ts'
import { runInSavepoints } from '../open-transactions.ts'
import { listQuery, writeAddress } from '../operation-address.ts'
import { ActionFailure, ActionProblem } from '../problem.ts'
import { discardResult } from '../raw-body.ts'
import { makeResultDispatch, makeResultReader, type PreparedResponse } from '../read-result.ts'
import { nameAction } from '../report-dropped.ts'
import type { RouteCounter } from '../route-statistics.ts'
import { makeRunner, makeSurrounder, noSurroundings, type MethodToRun } from '../run-method.ts'
import type { StepReply } from '../run-steps.ts'
import type { WriteSources } from '../write-result.ts'
import { CallScope } from './call-scope.ts'
import type { Callable, MethodCall } from './method-call.ts'

export interface CallSources extends ContextSources, CheckSources, WriteSources {
  /** @throws the error for a principal without one of the scopes */
  assertScopes(principal: Principal | undefined, needed: readonly string[]): Principal
}

export interface MethodToCall extends MethodToRun {
  readonly route: ManifestRoute
  /** Undefined where nothing is counted. */
  readonly counter: RouteCounter | undefined
}

/** Makes the function that runs a method without a request: its scopes, checks, steps, action and events. */
export function makeCallable(sources: CallSources, mounting: MethodToCall): Callable {
  const { method, route, counter } = mounting
  const operation = `${method.method} ${route.path}`
  const accepts = chooseResultType(method)
  const readInput = makeInputReader(sources, mounting, operation)
  const { read } = makeResultReader(sources, method, nameAction(mounting))
  const dispatch = makeResultDispatch(method, nameAction(mounting))
  const run = makeRunner(mounting, sources.manifest.schemas)
  const surround = makeSurrounder(mounting)

  const runCall = async (call: MethodCall, reply: CallReply): Promise<unknown> => {
    if (!method.public) sources.assertScopes(call.principal, method.scopes)
    if (accepts === undefined) throw errors.WP_RUNTIME_CALL_STREAM({ operation })
    const request = readInput(call.input)
    const scope = new CallScope(call, { request, accepts, timeoutMs: method.timeoutMs })
    const context = makeActionContext(sources, scope)
    const prepare = (result: unknown): PreparedResponse => {
      const prepared = read(result)
      if (prepared.status < 300 && !context.isEndedByStep) dispatch?.(context, prepared.written)
      return prepared
    }
    const surroundings = surround?.({ request, context, scope, reply, prepare }) ?? noSurroundings
    try {
      const result = await new Promise<unknown>((resolve, reject) =>
        run(request, context, { ...surroundings, succeed: resolve, fail: reject }),
      )
      const isPrepared = surroundings.around !== undefined
      if (scope.hasTimedOut) discardResult(isPrepared ? (result as PreparedResponse).body : result)
      scope.assertInTime()
      const prepared = isPrepared ? (result as PreparedResponse) : prepare(result)
      reply.statusCode = prepared.status
      const value = readValue(prepared, { operation, closeLater: scope.closeLater })
      if (context.hasDispatched) await context.storeDispatched()
      return value
    } finally {
      scope.end()
    }
  }
  return async (call) => {
    const startedAt = performance.now()
    const reply = new CallReply(call.parent.log)
    try {
      return await runInSavepoints(() => runCall(call, reply))
    } catch (thrown) {
      reply.statusCode = statusOf(thrown)
      throw thrown instanceof ActionFailure ? thrown.cause : thrown
    } finally {
      counter?.add(reply.statusCode, performance.now() - startedAt)
      reply.close()
    }
  }
}

/** What steps get instead of a response. */
class CallReply implements StepReply {
  statusCode = 200
  readonly raw = Object.assign(new EventEmitter(), { closed: false })
  readonly request: { readonly log: Log }

  constructor(log: Log) {
    this.request = { log }
  }

  close(): void {
    this.raw.closed = true
    this.raw.emit('close')
  }
}

/** The media type that a call gets: JSON if possible; undefined if all are streams of values. */
function chooseResultType(method: ManifestMethod): string | undefined {
  const types = resultTypesOf(method)
  return types.find((type) => isJsonType(type)) ?? types.find((type) => !isItemTypeOf(method, type))
}

/** Makes the function that turns the input of a call into a request, as if it had arrived over HTTP. */
function makeInputReader(sources: CallSources, { method, route }: MethodToCall, operation: string) {
  const { requestTypes, raw: _raw, request = findJsonSchema(requestTypes), ...rest } = method
  const check = makeRequestCheck(sources, { ...rest, ...(request !== undefined && { request }) })
  const limit = method.bodyLimit ?? sources.bodyLimit
  return ({ params = {}, query = {}, body, headers = {} }: CallOptions): Request => {
    const text = body === undefined ? undefined : JSON.stringify(body)
    if (requestTypes !== undefined && request === undefined) throw errors.WP_RUNTIME_CALL_BODY({ operation })
    const bytes = text === undefined ? 0 : Buffer.byteLength(text)
    if (bytes > limit) throw errors.WP_RUNTIME_BODY_SIZE({ limit })
    const named = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])
    const checked = check({
      method: method.method,
      url: writeAddress(route.path, { params, query }),
      params: Object.fromEntries(Object.entries(params).map(([name, value]) => [name, String(value)])),
      query: groupQuery(query),
      body: text === undefined ? undefined : (JSON.parse(text) as unknown),
      headers: Object.fromEntries(named),
      bodyBytes: bytes,
    })
    return {
      ...checked,
      ...(requestTypes !== undefined && { contentType: 'application/json' }),
      ...(method.raw === true && { raw: new TextEncoder().encode(text) }),
    }
  }
}

function findJsonSchema(types: ManifestMethod['requestTypes'] = {}): ManifestMethod['request'] {
  return Object.entries(types).find(([type]) => isJsonType(type))?.[1].schema
}

function groupQuery(query: NonNullable<CallOptions['query']>): Record<string, string | string[]> {
  const grouped = Map.groupBy(listQuery(query), ([name]) => name)
  return Object.fromEntries(
    [...grouped].map(([name, pairs]) => {
      const values = pairs.map(([, value]) => value)
      return [name, values.length === 1 ? values[0]! : values]
    }),
  )
}

interface Reading extends Pick<CallScope, 'closeLater'> {
  readonly operation: string
}

/** Returns the body of a response: JSON as values, everything else as the action made it. */
function readValue({ status, written, body }: PreparedResponse, { operation, closeLater }: Reading): unknown {
  const { payload, isJson } = written
  if (payload instanceof ItemStream) {
    payload.destroy()
    throw errors.WP_RUNTIME_CALL_STREAM({ operation })
  }
  const value = isJson && typeof payload === 'string' ? (JSON.parse(payload) as unknown) : payload
  if (status >= 400) {
    discardResult(body)
    const detail = (value as { readonly detail?: unknown } | undefined)?.detail
    throw new ActionProblem(status, typeof detail === 'string' ? detail : `${operation} responded with ${status}`)
  }
  if (!(payload instanceof Readable)) return value
  if (body instanceof Blob) {
    payload.destroy()
    return body
  }
  closeLater?.(payload)
  return payload
}

function statusOf(thrown: unknown): number {
  if (isWaypostError(thrown)) return thrown.status
  const { status } = Object(thrown) as { readonly status?: unknown }
  return typeof status === 'number' ? status : 500
}
