// Sends calls to methods of an API and keeps the last ones.
import { makeStore } from '../session/store.ts'
import { api } from '../strings/api.ts'
import type { SentRequest } from './write-code.ts'

const { tryIt: texts } = api

interface CallRequest extends SentRequest {
  /** With the query. */
  readonly path: string
}

/** A call and its answer. */
export interface Call extends Pick<CallRequest, 'method' | 'path' | 'url'> {
  readonly at: number
  readonly ms: number
  readonly answer:
    | {
        readonly status: number
        readonly headers: readonly (readonly [name: string, value: string])[]
        readonly text: string
        readonly bytes: number
        readonly isCut: boolean
      }
    | { readonly problem: string }
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

/** The last calls, of all methods. In memory only, because answers may contain personal data. */
export const calls = makeStore<readonly Call[]>([])

/** Sends a request and adds it to the last calls. @param tokens undefined sends it without a token */
export async function sendCall(request: CallRequest, tokens: TokenSource | undefined): Promise<Call> {
  const wasKept = tokens?.isKept() === true
  const send = async () =>
    sendRequest(request, tokens === undefined ? {} : { authorization: `Bearer ${await tokens.load()}` })
  let done = await send()
  if ('status' in done.answer && done.answer.status === 401) tokens?.forget()
  if (wasKept && lacksScope(done)) {
    // The user may have got the scope since: nothing was done with the old token.
    tokens.forget()
    done = await send()
  }
  calls.set([done, ...calls.get()].slice(0, maxCalls))
  return done
}

async function sendRequest(
  { method, path, url, headers = [], body }: CallRequest,
  authorization: { readonly authorization?: string },
): Promise<Call> {
  const at = Date.now()
  const startedAt = performance.now()
  const done = (answer: Call['answer']): Call => ({
    method,
    path,
    url,
    at,
    ms: performance.now() - startedAt,
    answer,
  })
  try {
    const response = await fetch(url, {
      method,
      headers: {
        ...Object.fromEntries(headers),
        ...authorization,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body }),
      credentials: 'omit',
      redirect: 'manual', // the token must not follow
      cache: 'no-store',
      referrerPolicy: 'no-referrer',
    })
    if (response.type === 'opaqueredirect') return done({ problem: texts.redirect })
    const { text, bytes, isCut } = await readText(response)
    return done({ status: response.status, headers: [...response.headers], text, bytes, isCut })
  } catch (error) {
    return done({ problem: error instanceof TypeError ? texts.network : String(error) })
  }
}

const maxBytes = 256 * 1024

/** Reads the beginning of a body. Answers may be endless. */
async function readText(response: Response): Promise<{ text: string; bytes: number; isCut: boolean }> {
  const reader = response.body?.getReader()
  if (reader === undefined) return { text: '', bytes: 0, isCut: false }
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return { text: text + decoder.decode(), bytes, isCut: false }
    bytes += value.length
    text += decoder.decode(value, { stream: true })
    if (bytes < maxBytes) continue
    await reader.cancel()
    return { text, bytes, isCut: true }
  }
}

/** Whether the token of a call had none of the scopes that the method needs. */
export function lacksScope({ answer }: Call): boolean {
  return 'status' in answer && answer.status === 403 && /#WP_AUTH_(USER_)?SCOPE"/.test(answer.text)
}
