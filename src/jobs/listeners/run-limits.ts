import type { ClaimedRun } from '../../events/index.ts'
import type { Host } from '../../host/index.ts'
import { errors } from '../errors.ts'
import { confirmRun, limitIdle } from './confirm-run.ts'
import { maxOnceSqliteMs } from './listener-terms.ts'

const idleReserveMs = 5000

interface Limits {
  readonly timeoutMs: number
  /** Aborts the run. */
  readonly signal?: AbortSignal
  /** Returns what it has logged so far, to be kept with the run. */
  logged(): string | null
  /** Called when the transaction of the run keeps all others from writing, on SQLite. */
  onLocked?(): Promise<void>
}

/**
 * Stops a run when it takes too long, or when its worker stops. A class, because an object literal with getters would have a
 * hidden class of its own for each run: collecting these took most of the time of an empty run.
 */
export class RunLimits {
  readonly #host: Host
  readonly #run: ClaimedRun
  readonly #limits: Limits
  readonly #timeout: NodeJS.Timeout
  readonly #abort: () => void
  #onceTimeout: NodeJS.Timeout | undefined
  #stopped: { readonly reason: unknown } | undefined
  /** Made when it is used: most actions do not. */
  #controller: AbortController | undefined

  constructor(host: Host, run: ClaimedRun, limits: Limits) {
    this.#host = host
    this.#run = run
    this.#limits = limits
    const { timeoutMs, signal } = limits
    const seconds = timeoutMs / 1000
    this.#timeout = this.#stopAfter(timeoutMs, () => errors.WP_SERVER_LISTENER_TIMEOUT({ name: run.listener, seconds }))
    this.#abort = () => this.#stop(signal?.reason)
    signal?.addEventListener('abort', this.#abort)
    if (signal?.aborted) this.#abort()
  }

  /** Why the run must stop, if it must. */
  get stopped(): { readonly reason: unknown } | undefined {
    return this.#stopped
  }

  /** Aborts when the run must stop. */
  signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#stopped !== undefined) this.#controller.abort(this.#stopped.reason)
    return this.#controller.signal
  }

  /** The first statement of a run with `once`. */
  async begin(transaction: unknown): Promise<void> {
    const { timeoutMs, onLocked } = this.#limits
    if (this.#host.system.kind === 'postgresql') return limitIdle(transaction, timeoutMs + idleReserveMs)
    clearTimeout(this.#onceTimeout) // not counted: how long it waited for the transactions of others
    this.#onceTimeout = this.#stopAfter(maxOnceSqliteMs, () =>
      errors.WP_SERVER_LISTENER_ONCE({ name: this.#run.listener, seconds: maxOnceSqliteMs / 1000 }),
    )
    await onLocked?.() // before the code, which may block this process
  }

  /** The last statement of a run with `once`. */
  confirm(transaction: unknown): Promise<void> {
    return confirmRun(this.#host.system, transaction, { run: this.#run, log: this.#limits.logged() })
  }

  end(): void {
    clearTimeout(this.#timeout)
    clearTimeout(this.#onceTimeout)
    this.#limits.signal?.removeEventListener('abort', this.#abort)
  }

  #stopAfter(ms: number, makeError: () => Error): NodeJS.Timeout {
    return setTimeout(() => this.#stop(makeError()), ms)
  }

  #stop(reason: unknown): void {
    this.#stopped ??= { reason }
    this.#controller?.abort(this.#stopped.reason)
  }
}
