import type { Dispatcher } from 'undici'
import { messageOf, type Clock } from '../kit/index.ts'
import {
  keepHeaders,
  makeResponseText,
  type ResponseText,
  type KeptHeaders,
  type ReceivedHeaders,
} from './read-response.ts'

/** The result of one POST. */
export interface PostResult {
  /** HTTP status; undefined without a response. */
  readonly status?: number
  /** Why there was no complete response. */
  readonly failure?: string
  /** How long the response asks to wait, at most a day. */
  readonly retryAfterMs?: number
  readonly latencyMs: number
  /** The first 4 KB of the response as text. */
  readonly answer?: string
  /** The headers of the response, see `keepHeaders`. */
  readonly headers?: KeptHeaders
  /**
   * Whether the response came, or would have come, from an address that only `allow` opens. It must not be shown to
   * subscribers.
   */
  readonly hidden?: boolean
}

export interface Post {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Limit for everything: name resolution, connection, request and the complete response. */
  readonly timeoutMs: number
  /** The start time for interpreting dates in the response; the process's time by default. */
  readonly startedAt?: number
  /** Ends the request, which then fails with `aborted`. */
  readonly signal?: AbortSignal
}

/** The parts of a URL that a request needs. */
export interface Target {
  readonly origin: string
  /** With the query. */
  readonly path: string
  /** Without the brackets of an IPv6 address. */
  readonly host: string
}

export function parseTarget(url: string): Target {
  const { origin, pathname, search, hostname } = new URL(url)
  return { origin, path: pathname + search, host: hostname.replace(/^\[|\]$/g, '') }
}

export interface PostContext {
  readonly agent: Dispatcher
  readonly open: OpenPosts
  readonly target: Target
  readonly clock: Clock
  /** Whether to close the connection afterwards. */
  readonly reset: boolean
  /** Hosts whose responses are hidden. */
  readonly opened: ReadonlySet<string>
}

/** Posts once. Never throws; the result contains the failure. */
export function postOnce(context: PostContext, post: Post): Promise<PostResult> {
  return new Promise((resolve) => {
    const exchange = new Exchange(context, post, resolve)
    const { target, reset } = context
    const { headers, body } = post
    try {
      context.agent.dispatch(
        { origin: target.origin, path: target.path, method: 'POST', headers, body, reset },
        exchange,
      )
    } catch (error) {
      exchange.onResponseError(undefined, error)
    }
  })
}

const sweepMs = 50

/**
 * The POSTs that are open. One timer ends those whose time is over or whose signal aborts: a timer and a listener for
 * each would cost a sixth of a POST.
 */
export class OpenPosts {
  readonly #open = new Set<Exchange>()
  #timer: NodeJS.Timeout | undefined

  add(exchange: Exchange): void {
    this.#open.add(exchange)
    this.#timer ??= setInterval(() => this.#sweep(), sweepMs).unref() // the sockets keep the process running
  }

  delete(exchange: Exchange): void {
    this.#open.delete(exchange)
  }

  #sweep(): void {
    for (const exchange of this.#open) exchange.endIfLate()
    if (this.#open.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}

/** Handles one request for undici, which limits no request from its beginning to its end. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #context: PostContext
  readonly #post: Post
  readonly #resolve: (result: PostResult) => void
  readonly #startedMonotonic: number
  /** By the time of this process. */
  readonly #deadline: number
  #controller: Dispatcher.DispatchController | undefined
  #isOver = false
  #status: number | undefined
  #retryAfterMs: number | undefined
  #answer: ResponseText | undefined
  #headers: KeptHeaders = []

  constructor(context: PostContext, post: Post, resolve: (result: PostResult) => void) {
    this.#context = context
    this.#post = post
    this.#resolve = resolve
    this.#startedMonotonic = context.clock.monotonic()
    this.#deadline = performance.now() + post.timeoutMs
    context.open.add(this)
  }

  endIfLate(): void {
    if (this.#post.signal?.aborted === true) this.#failWith('aborted')
    else if (performance.now() >= this.#deadline) this.#failWith(`timeout ${this.#post.timeoutMs / 1000} s`)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    this.endIfLate()
    if (this.#isOver) controller.abort(new Error('its time limit has expired')) // do not post after the deadline
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: ReceivedHeaders): void {
    if (status < 200) return // informational response
    this.#status = status
    const { startedAt } = this.#post
    const now = () => (startedAt === undefined ? this.#context.clock.now() : startedAt + this.#latency())
    this.#retryAfterMs = parseRetryAfter(headers['retry-after'], now)
    this.#answer = makeResponseText()
    this.#headers = keepHeaders(headers)
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    const failure = this.#answer?.add(chunk)
    if (failure !== undefined) this.#failWith(failure)
  }

  onResponseEnd(): void {
    this.#end()
  }

  onResponseError(_: unknown, error: unknown): void {
    this.#end(describe(error))
  }

  #latency(): number {
    return Math.round(this.#context.clock.monotonic() - this.#startedMonotonic)
  }

  #failWith(failure: string): void {
    this.#end(failure)
    this.#controller?.abort(new Error(failure))
  }

  #end(failure?: string): void {
    if (this.#isOver) return
    this.#isOver = true
    const { open, opened, target } = this.#context
    open.delete(this)
    const result: Mutable<PostResult> = { latencyMs: this.#latency() }
    if (failure !== undefined) result.failure = failure
    if (opened.has(target.host)) result.hidden = true
    if (this.#status !== undefined) {
      result.status = this.#status
      result.answer = this.#answer?.text() ?? ''
      result.headers = this.#headers
      if (this.#retryAfterMs !== undefined) result.retryAfterMs = this.#retryAfterMs
    }
    this.#resolve(result)
  }
}

type Mutable<Value> = { -readonly [Key in keyof Value]: Value[Key] }

function describe(error: unknown): string {
  const code = (error as { code?: unknown }).code
  return typeof code === 'string' && /^[A-Z0-9_]+$/.test(code) ? code : messageOf(error).slice(0, 200)
}

const maxRetryAfterMs = 24 * 3_600_000

/** A date of RFC 9110 §5.6.7 begins with the day of the week. `Date.parse` would also read numbers as dates. */
const httpDate = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? [\w :-]+$/

/**
 * Parses a Retry-After header: seconds, or a date (RFC 9110 §10.2.3). Some programs send fractions of seconds. Returns
 * milliseconds from now, at most a day; undefined for a time that has passed and for anything else.
 */
export function parseRetryAfter(header: string | string[] | undefined, now: () => number): number | undefined {
  if (typeof header !== 'string') return undefined
  const text = header.trim()
  const ms = /^\d+(?:\.\d*)?$/.test(text) ? Math.ceil(Number(text)) * 1000 : parseHttpDate(text) - now()
  return ms > 0 ? Math.min(ms, maxRetryAfterMs) : undefined
}

/** All forms are in UTC, although that of asctime does not say so. */
function parseHttpDate(text: string): number {
  if (!httpDate.test(text)) return Number.NaN
  return Date.parse(text.endsWith(' GMT') ? text : `${text} GMT`)
}
