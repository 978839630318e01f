// The transport: sends a request to the API of the pages with the token of the session. It renews the
// token, asks the user to sign in again if necessary, and then repeats the request.
import { apiPath } from '../config.ts'
import { findChangedFile } from './check-file.ts'
import { accessToken, askToSignIn, tellWindows } from '../session/session.ts'
import { problemTexts } from '../components/problem-texts.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export interface SendOptions {
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>> | undefined
  /** Sent as JSON. */
  readonly body?: unknown
  /** A CSV file, sent instead of JSON. */
  readonly file?: Blob | undefined
  /** The ETag that the change is based on. */
  readonly ifMatch?: string | undefined
  readonly signal?: AbortSignal | undefined
}

/** A problem with one field of a request. */
export interface FieldProblem {
  /** A JSON pointer into the body, for example `/email`. */
  readonly pointer: string
  readonly message: string
  /** Whether it is in the words of the schema of the request, instead of a text for the form. */
  readonly isOfSchema?: boolean
}

/** A problem document of the server. */
export class Problem extends Error {
  override readonly name = 'Problem'
  readonly status: number
  /** The code of the error, for example `WP_AUTH_NAME`; empty if the response is not from Waypost. */
  readonly code: string
  readonly hint: string | undefined
  readonly fields: readonly FieldProblem[]
  /** The members of the document, for example the current value after a conflict. */
  readonly body: Readonly<Record<string, unknown>>

  constructor(status: number, body: Readonly<Record<string, unknown>>) {
    const { type, title, detail, hint, errors } = body
    super(textOf(detail) ?? textOf(title) ?? `${problemTexts.unexpected} (${status})`)
    this.status = status
    this.body = body
    this.code = textOf(type)?.split('#')[1] ?? ''
    this.hint = textOf(hint)
    const isOfSchema = this.code === 'WP_RUNTIME_REQUEST_INVALID'
    this.fields = Array.isArray(errors) ? errors.map((one) => readField(one, isOfSchema)) : []
  }
}

interface Loaded {
  readonly data: unknown
  readonly error: Error | null
}

/**
 * Returns the error that takes the place of what a query loads; undefined while there is earlier data. A page that is loaded
 * again and cannot be must keep what was typed, unless what it shows is gone.
 */
export function loadingErrorOf({ data, error }: Loaded): Error | undefined {
  if (error === null) return undefined
  const isGone = error instanceof Problem && error.status === 404 && error.code !== ''
  return data === undefined || isGone ? error : undefined
}

/** The data of a response with its ETag. */
export interface WithEtag<Value> {
  readonly data: Value
  readonly etag: string | undefined
}

/** Sends a request to a path below `apiPath`. @throws Problem, SignInCancelled, TypeError if there is no network */
export async function send<Value>(method: Method, path: string, options: SendOptions = {}): Promise<Value> {
  return (await sendWithEtag<Value>(method, path, options)).data
}

/** Like `send`, with the ETag of the response. */
export async function sendWithEtag<Value>(
  method: Method,
  path: string,
  options: SendOptions = {},
): Promise<WithEtag<Value>> {
  const response = await sendForResponse(method, path, options)
  return { data: (await readData(response)) as Value, etag: response.headers.get('etag') ?? undefined }
}

/** Like `send`, for a response that is read while it arrives. */
export async function sendForResponse(method: Method, path: string, options: SendOptions = {}): Promise<Response> {
  const token = await accessToken()
  let response = await request(method, path, { ...options, token })
  if (response.status === 401) response = await request(method, path, { ...options, token: await accessToken(token) })
  if (response.status === 403 && (await needsPassword(response))) {
    await askToSignIn('password')
    response = await request(method, path, { ...options, token: await accessToken() })
  }
  if (!response.ok) throw new Problem(response.status, await readProblem(response))
  if (method !== 'GET' && endsAccess.test(path)) tellWindows()
  return response
}

/** Paths of changes after which other windows may have no access any more. */
const endsAccess = /^\/?(user\/|account\/password|token\/(?!try|find))/

async function needsPassword(response: Response): Promise<boolean> {
  const { type } = await readProblem(response.clone())
  return textOf(type)?.endsWith('#WP_AUTH_STEP_UP') === true
}

async function request(
  method: Method,
  path: string,
  { token, query = {}, body, file, ifMatch, signal }: SendOptions & { token: string },
): Promise<Response> {
  const url = new URL(`${apiPath}/${path.replace(/^\//, '')}`, location.origin)
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== '') url.searchParams.set(name, String(value))
  const sending = fetch(url, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(file === undefined ? {} : { 'content-type': 'text/csv' }),
      ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(file === undefined ? {} : { body: file }),
    ...(signal === undefined ? {} : { signal }),
  })
  return sending.catch(async (error: unknown) => {
    const reason = await findChangedFile(file)
    throw reason === undefined ? error : new Error(reason)
  })
}

/** @throws Problem if a proxy responds with a page, for example to log in there */
async function readData(response: Response): Promise<unknown> {
  const { proxyPage: title, proxyHint: hint } = problemTexts
  const text = await response.text()
  if (text === '') return undefined
  try {
    return JSON.parse(text)
  } catch {
    throw new Problem(response.status, { title, hint })
  }
}

/** Reads a problem document. Waypost sends nothing else, so another body is from a proxy, usually HTML. */
export async function readProblem(response: Response): Promise<Record<string, unknown>> {
  const body: unknown = await response.json().catch(() => undefined)
  if (typeof body === 'object' && body !== null) return body as Record<string, unknown>
  return { title: problemTexts.proxy(response.status), hint: problemTexts.proxyHint }
}

/** @param isOfSchema whether the request does not match its schema: a form has written texts with a pointer of its own */
function readField(error: unknown, isOfSchema: boolean): FieldProblem {
  const { pointer, path, message } = error as Record<string, unknown>
  const at = textOf(pointer) ?? textOf(path)?.replace(/^(body|params)/, '') ?? ''
  return { pointer: at, message: textOf(message) ?? '', isOfSchema: isOfSchema && pointer === undefined }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
