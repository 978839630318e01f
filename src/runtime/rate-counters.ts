import type { FastifyRateLimitStore, FastifyRateLimitStoreCtor } from '@fastify/rate-limit'
import type { ConnectionSet } from '../connection/index.ts'
import type { Log } from '../contract/index.ts'
import { safeMessageOf, withDeadline, type Clock } from '../kit/index.ts'

/** Counters for rate limits, by rate and caller, of this server and all its generations. */
export interface RateCounters {
  /** Returns the store of a generation, whose connections count for the rates that name one. */
  storeOf(connections: ConnectionSet | undefined): FastifyRateLimitStoreCtor
}

export interface RateCounterOptions {
  readonly clock: Clock
  readonly log: Log
  /** Keeps the counters of installations apart that use the same remote system: the issuer. */
  readonly scope: string
}

interface Window {
  readonly startedAt: number
  count: number
}

type CountCallback = Parameters<FastifyRateLimitStore['incr']>[1]
interface Counted {
  readonly current: number
  /** Milliseconds until the window ends. */
  readonly ttl: number
}

const maxWindows = 100_000

/** Makes the counters of a server. */
export function makeRateCounters({ clock, log, scope }: RateCounterOptions): RateCounters {
  const countHere = makeLocalCounter(clock)
  const remoteCounters = new Map<string, RemoteCounter>()

  function remoteCounter(connection: string): RemoteCounter {
    const known = remoteCounters.get(connection)
    if (known !== undefined) return known
    const made = new RemoteCounter(connection, { clock, log })
    remoteCounters.set(connection, made)
    return made
  }

  return {
    storeOf: (connections) =>
      class Store implements FastifyRateLimitStore {
        readonly #remote: RemoteCounter | undefined

        /** @param options the options of `@fastify/rate-limit`, and for a route those of `rateConfig` */
        constructor(options: object) {
          if ('connection' in options) this.#remote = remoteCounter(String(options.connection))
        }

        incr(key: string, counted: CountCallback, lengthMs = 0): void {
          // Counted here in any case, so that an outage gives callers no new budget.
          const here = countHere(key, lengthMs)
          if (this.#remote === undefined || connections === undefined) return counted(null, here)
          const everywhere = this.#remote.count(connections, `${scope} ${key}`, lengthMs)
          void everywhere.then((found) => counted(null, found ?? here))
        }

        child(options: object): Store {
          return new Store(options)
        }
      },
  }
}

function makeLocalCounter(clock: Clock): (key: string, lengthMs: number) => Counted {
  const windows = new Map<string, Window>()
  return (key, lengthMs) => {
    const now = clock.now()
    let window = windows.get(key)
    if (window === undefined || window.startedAt + lengthMs <= now) {
      windows.delete(key) // and inserted again at the end, so that the first is the oldest
      if (windows.size >= maxWindows) windows.delete(windows.keys().next().value!)
      window = { startedAt: now, count: 0 }
      windows.set(key, window)
    }
    window.count += 1
    return { current: window.count, ttl: window.startedAt + lengthMs - now }
  }
}

/** How long a connection that failed is not used. */
const retryMs = 1000
const limitMs = 100

/** Counts through a connection with the capability `count`. While it is down, only one call a second tries it. */
class RemoteCounter {
  readonly #connection: string
  readonly #clock: Clock
  readonly #log: Log
  /** Set while the connection is down: when it is tried again. */
  #retryAt: number | undefined

  constructor(connection: string, { clock, log }: Pick<RateCounterOptions, 'clock' | 'log'>) {
    this.#connection = connection
    this.#clock = clock
    this.#log = log
  }

  /** @returns undefined if the connection is down */
  async count(connections: ConnectionSet, key: string, windowMs: number): Promise<Counted | undefined> {
    if (this.#retryAt === undefined) return this.#count(connections, key, windowMs)
    if (this.#clock.monotonic() >= this.#retryAt) {
      this.#retryAt = this.#clock.monotonic() + retryMs
      void this.#retry(this.#count(connections, key, windowMs)) // the caller does not wait for it
    }
    return undefined
  }

  async #count(connections: ConnectionSet, key: string, windowMs: number): Promise<Counted | undefined> {
    try {
      const opened = connections.get(this.#connection)
      if (opened.count === undefined) throw new Error('it does not provide "count"')
      const { count, resetMs } = await withDeadline(opened.count(key, windowMs), limitMs, () => {
        throw new Error(`it did not respond within ${limitMs} ms`)
      })
      if (!(count >= 1 && resetMs <= Infinity)) throw new Error('its "count" did not return numbers')
      return { current: count, ttl: Math.min(Math.max(resetMs, 1), windowMs) }
    } catch (error) {
      if (this.#retryAt === undefined) {
        const fields = { connection: this.#connection, reason: safeMessageOf(error) }
        this.#log.warn(fields, 'counting requests across servers failed; this server counts its own requests')
      }
      this.#retryAt = this.#clock.monotonic() + retryMs
      return undefined
    }
  }

  async #retry(counting: Promise<Counted | undefined>): Promise<void> {
    if ((await counting) === undefined) return
    this.#retryAt = undefined
    this.#log.info({ connection: this.#connection }, 'counting requests across servers works again')
  }
}
