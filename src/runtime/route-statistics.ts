import type { FastifyReply } from 'fastify'
import { latencyBoundsMs } from '../kit/index.ts'
import type { RequestLog } from './request-log.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Counts the responses of the method. */
    counter?: RouteCounter
  }
}

/** The responses of a method since the last call of `drain`. */
export interface RouteCount {
  /** Method and path: `GET /todo/:id`. */
  readonly route: string
  /** The responses with 2xx, 3xx, 4xx and 5xx. */
  readonly statuses: readonly number[]
  /** The sum of all latencies in milliseconds. */
  readonly sumMs: number
  /** The responses by latency: one bucket for each bound, and one for those that took longer. */
  readonly buckets: readonly number[]
}

const statusClasses = 4
const sumAt = statusClasses
const bucketsAt = statusClasses + 1
const width = bucketsAt + latencyBoundsMs.length + 1

/** Counts the responses of one method. It runs for every request, so it only adds to numbers. */
export class RouteCounter {
  readonly #numbers = new Float64Array(width)

  /** Counts a response that is about to be sent. */
  count(reply: FastifyReply, status: number): void {
    this.add(status, performance.now() - (reply.log as unknown as RequestLog).startedAt)
  }

  /** Counts the end of a call within this process. */
  add(status: number, ms: number): void {
    const numbers = this.#numbers
    const statusClass = Math.trunc(status / 100) - 2
    numbers[statusClass < 0 || statusClass >= statusClasses ? statusClasses - 1 : statusClass]! += 1
    numbers[sumAt]! += ms
    let bucket = 0
    while (bucket < latencyBoundsMs.length && ms > latencyBoundsMs[bucket]!) bucket += 1
    numbers[bucketsAt + bucket]! += 1
  }

  /** Returns the counts and sets them to zero; undefined if there are none. */
  drain(route: string): RouteCount | undefined {
    const numbers = Array.from(this.#numbers)
    const statuses = numbers.slice(0, statusClasses)
    if (statuses.every((count) => count === 0)) return undefined
    this.#numbers.fill(0)
    return { route, statuses, sumMs: numbers[sumAt]!, buckets: numbers.slice(bucketsAt) }
  }
}

/** Counts the responses of all methods of a server, across its generations. */
export class RouteStatistics {
  readonly #counters = new Map<string, RouteCounter>()

  /** @param route method and path */
  of(route: string): RouteCounter {
    const known = this.#counters.get(route) ?? new RouteCounter()
    this.#counters.set(route, known)
    return known
  }

  /** Returns the methods that were called since the last call, by name. */
  drain(): readonly RouteCount[] {
    const counts = [...this.#counters].map(([route, counter]) => counter.drain(route))
    return counts.filter((count) => count !== undefined).toSorted((a, b) => (a.route < b.route ? -1 : 1))
  }
}
