import type { GuardedFetch } from 'waypost'

export interface HttpConfig {
  readonly url: string
  readonly auth?: HttpAuth
  readonly timeout: string
  readonly body_timeout: string
  readonly body_limit: string
  readonly network: 'public' | 'private'
}

interface HttpAuth {
  readonly bearer?: string
  readonly basic?: { readonly user: string; readonly password: string }
  readonly header?: { readonly name: string; readonly value: string }
}

/** The client of a connection of the class `http`. */
export interface HttpClient {
  /**
   * Sends a request with the credentials of the connection.
   * @param path appended to the base URL: empty, or from `/`; it may contain a query string
   * @param init like that of the global `fetch`. A redirect is an error unless `redirect` is `manual`
   * @throws TypeError if the path leaves the base URL; otherwise like the global `fetch`. A DOMException named
   * `TimeoutError` is thrown if the response does not begin in time, or by its body if that is not complete in time
   */
  fetch(path: string, init?: RequestInit): Promise<Response>
}

/** @throws Error if the base URL is not valid */
export function makeHttpClient(config: HttpConfig, fetch: GuardedFetch): HttpClient {
  const base = URL.parse(config.url)
  if (base === null || base.username !== '' || base.search !== '' || base.hash !== '')
    throw new Error('"url" must be an http:// or https:// URL without credentials, query and fragment')
  const basePath = base.pathname.replace(/\/+$/, '')
  const auth = makeAuthHeader(config.auth)
  const [timeoutMs, bodyMs] = [parseMs(config.timeout), parseMs(config.body_timeout)]
  const maxBytes = parseBytes(config.body_limit)

  return {
    async fetch(path, init = {}) {
      const url = resolvePath(base, basePath, path)
      const headers = new Headers(init.headers)
      if (!headers.has('user-agent')) headers.set('user-agent', 'waypost')
      if (auth !== undefined) headers.set(...auth)
      const late = new AbortController()
      const signal = init.signal ? AbortSignal.any([init.signal, late.signal]) : late.signal
      const timer = abortLater(late, timeoutMs, `No response within ${config.timeout}`)
      let response: Response
      try {
        response = await fetch(url, { ...init, headers, signal, network: config.network })
      } finally {
        clearTimeout(timer)
      }
      const timeout = () => abortLater(late, bodyMs, `The response was not complete within ${config.body_timeout}`)
      return limitBody(response, { maxBytes, timeout, late })
    },
  }
}

function resolvePath(base: URL, basePath: string, path: string): URL {
  const url = path === '' || /^[/?]/.test(path) ? URL.parse(`${base.origin}${basePath}${path}`) : null
  const isInside = url?.origin === base.origin && `${url.pathname}/`.startsWith(`${basePath}/`)
  if (url === null || !isInside)
    throw new TypeError(`The path "${path}" must begin with / and must not leave the base URL`)
  return url
}

function makeAuthHeader({ bearer, basic, header }: HttpAuth = {}): readonly [name: string, value: string] | undefined {
  if (bearer !== undefined) return ['authorization', `Bearer ${bearer}`]
  if (header !== undefined) return [header.name, header.value]
  if (basic === undefined) return undefined
  return ['authorization', `Basic ${Buffer.from(`${basic.user}:${basic.password}`).toString('base64')}`]
}

const msOf = { ms: 1, s: 1000, m: 60_000 }
const bytesOf = { kb: 2 ** 10, mb: 2 ** 20, gb: 2 ** 30 }

function parseMs(text: string): number {
  return Number.parseInt(text, 10) * msOf[text.replace(/\d+/, '') as keyof typeof msOf]
}

function parseBytes(text: string): number {
  return Number.parseInt(text, 10) * bytesOf[text.replace(/\d+/, '') as keyof typeof bytesOf]
}

function abortLater(controller: AbortController, ms: number, message: string): NodeJS.Timeout {
  return setTimeout(() => controller.abort(new DOMException(message, 'TimeoutError')), ms).unref()
}

interface BodyLimits {
  readonly maxBytes: number
  /** Starts the timer that ends the body. */
  timeout(): NodeJS.Timeout
  readonly late: AbortController
}

/** Limits the size of a body, and the time that it may take. */
function limitBody(response: Response, { maxBytes, timeout, late }: BodyLimits): Response {
  if (response.body === null) return response
  const tooLarge = () => new RangeError(`The body of the response is larger than ${maxBytes} bytes`)
  const declared = response.headers.has('content-encoding') ? 0 : Number(response.headers.get('content-length'))
  if (declared > maxBytes) {
    late.abort()
    throw tooLarge()
  }
  const timer = timeout()
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  let size = 0
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read()
          size += value?.length ?? 0
          if (size > maxBytes) throw tooLarge()
          if (!done) return controller.enqueue(value)
          clearTimeout(timer)
          return controller.close()
        } catch (error) {
          clearTimeout(timer)
          late.abort()
          throw error
        }
      },
      async cancel(reason) {
        clearTimeout(timer)
        await reader.cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
  return new Response(body, response)
}

/** Returns why a request failed. `fetch` itself only says that it did. */
export function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const inner = error.cause ?? (error instanceof AggregateError ? error.errors[0] : undefined)
  return inner === undefined ? error.message : describeFailure(inner)
}
