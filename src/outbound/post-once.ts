import type { Agent, Dispatcher } from 'undici'
import { messageOf, type Clock } from '../kit/index.ts'
import { makeAnswer, type Answer } from './read-answer.ts'
import { parseRetryAfter } from './retry-after.ts'

/** What came of one POST. */
export interface PostResult {
  /** HTTP status; undefined when there was no answer. */
  readonly status?: number
  /** Why there was no answer, or none that could be read to its end. */
  readonly failure?: string
  /** How long the answer asks to wait, at most a day. */
  readonly retryAfterMs?: number
  readonly latencyMs: number
  /** The first 4 KB of the answer, as text. */
  readonly answer?: string
  /** Whether it came, or would have come, from an address that only `allow` opens: its owner shows it to whom he likes. */
  readonly hidden?: boolean
}

export interface Post {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** For all of it: name, connection, request and the whole answer. */
  readonly timeoutMs: number
  /** The time at which it begins, by which dates in the answer are read; that of the process by default. */
  readonly startedAt?: number
}

export interface Posting {
  readonly agent: Agent
  readonly clock: Clock
  /** Whether its connection is closed behind it. */
  readonly reset: boolean
}

/** Posts once; never throws: what failed is in the result. */
export function postOnce({ agent, clock, reset }: Posting, post: Post): Promise<PostResult> {
  return new Promise((resolve) => {
    const exchange = new Exchange(clock, post, resolve)
    try {
      const { origin, pathname, search } = new URL(post.url)
      const { headers, body } = post
      agent.dispatch({ origin, path: pathname + search, method: 'POST', headers, body, reset }, exchange)
    } catch (error) {
      exchange.onResponseError(undefined, error)
    }
  })
}

type Headers = Readonly<Record<string, string | string[] | undefined>>

/**
 * A request on its way and what came of it, as undici calls it. Its time runs from the start: undici itself looks at a
 * signal only once there is a connection, which may take longer.
 */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #clock: Clock
  readonly #began: number
  readonly #startedAt: number
  readonly #timer: NodeJS.Timeout
  readonly #resolve: (result: PostResult) => void
  #controller: Dispatcher.DispatchController | undefined
  #isOver = false
  #status: number | undefined
  #retryAfterMs: number | undefined
  #answer: Answer | undefined

  constructor(clock: Clock, { timeoutMs, startedAt = clock.now() }: Post, resolve: (result: PostResult) => void) {
    this.#clock = clock
    this.#began = clock.monotonic()
    this.#startedAt = startedAt
    this.#resolve = resolve
    this.#timer = setTimeout(() => this.#giveUp(`timeout ${timeoutMs / 1000} s`), timeoutMs)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#isOver) controller.abort(new Error('its time limit has expired')) // nothing is posted any more
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: Headers): void {
    if (status < 200) return // more is to come
    this.#status = status
    this.#retryAfterMs = parseRetryAfter(headers['retry-after'], this.#startedAt + this.#latency())
    this.#answer = makeAnswer()
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    const failure = this.#answer?.add(chunk)
    if (failure !== undefined) this.#giveUp(failure)
  }

  onResponseEnd(): void {
    this.#end({})
  }

  onResponseError(_: unknown, error: unknown): void {
    this.#end({ failure: describe(error) })
  }

  #latency(): number {
    return Math.round(this.#clock.monotonic() - this.#began)
  }

  #giveUp(failure: string): void {
    this.#end({ failure })
    this.#controller?.abort(new Error(failure))
  }

  #end(failed: { failure?: string }): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#timer)
    this.#resolve({
      latencyMs: this.#latency(),
      ...(this.#status === undefined ? {} : { status: this.#status, answer: this.#answer?.text() ?? '' }),
      ...(this.#retryAfterMs === undefined ? {} : { retryAfterMs: this.#retryAfterMs }),
      ...failed,
    })
  }
}

function describe(error: unknown): string {
  const code = (error as { code?: unknown }).code
  return typeof code === 'string' && /^[A-Z0-9_]+$/.test(code) ? code : messageOf(error).slice(0, 200)
}
