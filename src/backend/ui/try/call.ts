// Sends calls to methods of an API and keeps the last ones.
import { findChangedFile } from '../api/check-file.ts'
import { makeStore } from '../session/store.ts'
import type { MadeBody } from './body-values.ts'
import { readBody, type ReadBody } from './read-body.ts'
import type { SentRequest } from './write-code.ts'
import { tryItTexts as texts } from './try-texts.ts'

interface CallRequest extends SentRequest {
  /** With the query. */
  readonly path: string
  /** A body of another type than JSON. */
  readonly made?: Omit<MadeBody, 'code'>
}

/** A call and its response. */
export interface Call extends Pick<CallRequest, 'method' | 'path' | 'url'> {
  readonly at: number
  readonly ms: number
  readonly response:
    | (ReadBody & {
        readonly status: number
        readonly headers: readonly (readonly [name: string, value: string])[]
      })
    | { readonly problem: string }
}

export interface Sending {
  readonly signal: AbortSignal
  /** Called while the response arrives. */
  onProgress(call: Call): void
}

/** The tokens of calls. Routes are project code, which must never see a token of the session. */
export interface TokenSource {
  /** Returns a valid token. @throws Problem, SignInCancelled */
  load(): Promise<string>
  /** Makes the next call load another token, for example with more scopes. */
  forget(): void
  /** Whether the next call sends a token that is already known. */
  isKept(): boolean
}

const renewalMs = 30_000

/** Keeps the token that `load` returns until shortly before it expires. In memory only. */
export function keepToken(
  load: () => Promise<{ readonly access_token: string; readonly expires_in: number }>,
): TokenSource {
  let kept: { readonly text: string; readonly expiresAt: number } | undefined
  const isKept = () => kept !== undefined && kept.expiresAt - renewalMs >= Date.now()
  return {
    isKept,
    async load() {
      if (kept === undefined || !isKept()) {
        const { access_token: text, expires_in: seconds } = await load()
        kept = { text, expiresAt: Date.now() + seconds * 1000 }
      }
      return kept.text
    },
    forget() {
      kept = undefined
    },
  }
}

const maxCalls = 10

/** The last calls, of all methods. In memory only, because responses may contain personal data. */
export const calls = makeStore<readonly Call[]>([])

/** Sends a request and adds it to the last calls. @param tokens undefined sends it without a token */
export async function sendCall(request: CallRequest, tokens: TokenSource | undefined, sending: Sending): Promise<Call> {
  const wasKept = tokens?.isKept() === true
  const send = async () => {
    const token = tokens === undefined ? undefined : await loadUnlessStopped(tokens, sending.signal)
    const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` }
    return sendRequest(request, authorization, sending)
  }
  let done = await send()
  if ('status' in done.response && done.response.status === 401) tokens?.forget()
  if (wasKept && lacksScope(done)) {
    // The user may have got the scope since: nothing was done with the old token.
    tokens.forget()
    done = await send()
  }
  calls.set([done, ...calls.get().map(withoutLargeFile)].slice(0, maxCalls))
  return done
}

/** Returns the token. If the call is stopped first, returns undefined without waiting for a sign-in to finish. */
async function loadUnlessStopped(tokens: TokenSource, signal: AbortSignal): Promise<string | undefined> {
  const { promise: stopped, resolve: stop } = Promise.withResolvers<undefined>()
  const end = () => stop(undefined)
  signal.addEventListener('abort', end)
  if (signal.aborted) end()
  return Promise.race([tokens.load(), stopped]).finally(() => signal.removeEventListener('abort', end))
}

async function sendRequest(
  { method, path, url, headers = [], body, made }: CallRequest,
  authorization: { readonly authorization?: string },
  { signal, onProgress }: Sending,
): Promise<Call> {
  const at = Date.now()
  const startedAt = performance.now()
  const done = (response: Call['response']): Call => ({
    method,
    path,
    url,
    at,
    ms: performance.now() - startedAt,
    response,
  })
  try {
    const response = await fetch(url, {
      method,
      headers: {
        ...Object.fromEntries(headers),
        ...authorization,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(made?.contentType === undefined ? {} : { 'content-type': made.contentType }),
      },
      ...(body === undefined ? {} : { body }),
      ...(made?.payload === undefined ? {} : { body: made.payload }),
      credentials: 'omit',
      redirect: 'manual', // the token must not follow
      cache: 'no-store',
      referrerPolicy: 'no-referrer',
      signal,
    })
    if (response.type === 'opaqueredirect') return done({ problem: texts.redirect })
    const about = { status: response.status, headers: [...response.headers] }
    const read = await readBody(response, (part) => onProgress(done({ ...about, ...part })))
    const state = read.state === 'broken' && signal.aborted ? 'stopped' : read.state
    return done({ ...about, ...read, state })
  } catch (error) {
    if (signal.aborted) return done({ problem: texts.stopped })
    const changed = await findChangedFile(made?.payload)
    if (changed !== undefined) return done({ problem: changed })
    return done({ problem: error instanceof TypeError ? texts.network : String(error) })
  }
}

const maxKeptFile = 1024 * 1024

/** Forgets the file of an earlier call, if it is large. */
function withoutLargeFile(call: Call): Call {
  if (!('status' in call.response) || call.response.file === undefined || call.response.file.size <= maxKeptFile)
    return call
  const { file: _, ...response } = call.response
  return { ...call, response }
}

/** Whether the token of a call had none of the scopes that the method needs. */
export function lacksScope({ response }: Call): boolean {
  return 'status' in response && response.status === 403 && /#WP_AUTH_(USER_)?SCOPE"/.test(response.text)
}
