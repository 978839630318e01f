import { validateHeaderName, validateHeaderValue, type OutgoingHttpHeaders } from 'node:http'
import { parseDigits } from '../kit/index.ts'
import type { ManifestMethod } from '../release/index.ts'
import type { ActionContext } from './action-context.ts'
import { ActionResponse, FileResponse } from './action-response.ts'
import { errors } from './errors.ts'
import { makeWriter, type WriteSources } from './write-result.ts'
import type { Written } from './written.ts'

export type CheckedHeaders = Readonly<Record<string, string>>

export interface ExplicitResponse {
  readonly headers: CheckedHeaders
  readonly isFile: boolean
}

/** Checks the arguments of `context.respond`. @throws WP_RUNTIME_STATUS, or Node's error about a header */
function checkResponse(response: ActionResponse, action: string): ExplicitResponse {
  const { status, headers } = response
  if (!Number.isInteger(status) || status < 200 || status > 599) {
    throw errors.WP_RUNTIME_STATUS({ action, status: String(status) })
  }
  return { headers: checkHeaders(headers), isFile: response instanceof FileResponse }
}

/** Returns the headers with names in lower case. All are checked before any header of the response is set. */
function checkHeaders(headers: OutgoingHttpHeaders): CheckedHeaders {
  const checked: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined) continue
    validateHeaderName(name)
    for (const one of [value].flat()) validateHeaderValue(name, String(one))
    checked[name.toLowerCase()] = value as string // Fastify also accepts numbers and arrays
  }
  return checked
}

/** The response that a result stands for. */
export interface PreparedResponse {
  readonly status: number
  readonly written: Written
  readonly explicit: ExplicitResponse | undefined
  /** What the action returned or responded with. */
  readonly body: unknown
}

/** Reads the results of the actions of a method. */
export interface ResultReader {
  /** Checks and serializes a result. @throws WP_RUNTIME_RESULT, WP_RUNTIME_STATUS, or Node's error about a header */
  read(result: unknown): PreparedResponse
  /** The declared statuses below 300. */
  readonly success: readonly number[]
}

/** @param action the name of the action in messages */
export function makeResultReader(sources: WriteSources, method: ManifestMethod, action: string): ResultReader {
  const write = makeWriter(sources, method, action)
  const success = [...new Set([...Object.keys(method.responses), ...Object.keys(method.responseTypes ?? {})])]
    .map(Number)
    .filter((status) => status < 300)
  const defaultStatus = success.length === 0 ? 200 : Math.min(...success)
  const emptyStatus = success.includes(204) ? 204 : defaultStatus
  return {
    success,
    read(result) {
      const explicit = result instanceof ActionResponse ? checkResponse(result, action) : undefined
      const ofResult = result === undefined ? emptyStatus : defaultStatus
      const status = result instanceof ActionResponse ? result.status : ofResult
      const body = result instanceof ActionResponse ? result.body : result
      const written = write(status, body, explicit?.headers['content-type'])
      return { status, written, explicit, body }
    },
  }
}

/** Dispatches the response body, so that subscribers learn no more than callers. */
export function makeResultDispatch(
  { dispatch: event, dispatchData: names, action: use }: ManifestMethod,
  action: string,
) {
  if (event === undefined) return undefined
  const isEach = 'class' in use && use.plan?.each === true
  const project = (data: unknown): unknown => {
    if (names === undefined || data === null) return data
    if (typeof data !== 'object' || Array.isArray(data)) throw errors.WP_RUNTIME_DISPATCH_DATA({ action, event })
    const known = data as Readonly<Record<string, unknown>>
    return Object.fromEntries(names.flatMap((one) => (Object.hasOwn(known, one) ? [[one, known[one]]] : [])))
  }
  return (context: ActionContext, { payload, isJson }: Written): void => {
    if (payload !== undefined && !isJson) throw errors.WP_RUNTIME_DISPATCH({ action, event })
    const data: unknown = payload === undefined ? null : parseDigits(payload as string)
    const results: readonly unknown[] = isEach && Array.isArray(data) ? data : [data]
    context.dispatchResult(event, results.map(project))
  }
}
