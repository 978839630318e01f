import type { Clock } from '../../kit/index.ts'

/** A POST that takes longer makes its host slow. */
const slowMs = 1000
/** A POST that takes longer than this is unlikely to finish soon. */
const hungMs = 5000
/** If so many hosts have not responded for so long, the fault is likely to be this worker's network. */
const minSilentHosts = 5
const silentMs = 30_000
/** The most hosts without deliveries that are remembered. */
const maxRemembered = 1000

/** How many POSTs a worker sends concurrently, in total and to one endpoint. */
export interface Limits {
  readonly total: number
  readonly perEndpoint: number
}

/** One host: all endpoints with the same scheme, name and port, regardless of the subscriber. */
export class Host {
  readonly #clock: Clock
  /** When each POST in flight began, oldest first. */
  readonly #postings = new Map<object, number>()
  /** Duration of the last completed POST. */
  #lastMs: number | undefined
  #silentSince: number | undefined
  #triedAt = -Infinity
  /** Deliveries in memory that are not in flight. */
  queued = 0
  /** Its endpoints that may have a delivery to start, in turn. */
  readonly ready = new Set<object>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get posting(): number {
    return this.#postings.size
  }

  get isUnused(): boolean {
    return this.queued === 0 && this.posting === 0
  }

  begin(posting: object): void {
    const now = this.#clock.monotonic()
    this.#postings.set(posting, now)
    this.#triedAt = now
    this.#silentSince ??= now
  }

  /** @param hasResponse whether it got an HTTP response, with any status */
  end(posting: object, hasResponse: boolean): void {
    const now = this.#clock.monotonic()
    this.#lastMs = now - (this.#postings.get(posting) ?? now)
    this.#postings.delete(posting)
    if (hasResponse) this.#silentSince = undefined
  }

  /** Whether it was tried in the last half minute, and how long it has not responded. */
  silence(): { readonly isRecent: boolean; readonly ms: number } {
    const now = this.#clock.monotonic()
    const ms = this.#silentSince === undefined ? 0 : now - this.#silentSince
    return { isRecent: now - this.#triedAt < silentMs || this.posting > 0, ms }
  }

  /** Whether the last response was slow, or a POST in flight is. */
  isSlow(): boolean {
    return (this.#lastMs ?? 0) >= slowMs || this.#oldestMs() >= slowMs
  }

  isHung(): boolean {
    return (this.#lastMs ?? 0) >= hungMs || this.#oldestMs() >= hungMs
  }

  isQuick(): boolean {
    return this.#lastMs !== undefined && !this.isSlow()
  }

  #oldestMs(): number {
    for (const began of this.#postings.values()) return this.#clock.monotonic() - began
    return 0
  }

  /** The most concurrent POSTs to this host: nearly all slots if it responds quickly, otherwise the default share. */
  maxPostings(limits: Limits): number {
    return this.isQuick() ? limits.total - Math.floor(limits.total / 8) : defaultShare(limits)
  }
}

/**
 * Half of a worker's concurrent POSTs, so that a hanging host does not block the others, regardless of how many
 * endpoints it has. At least the limit of one endpoint.
 */
export function defaultShare({ total, perEndpoint }: Limits): number {
  return Math.min(total, Math.max(Math.ceil(total / 2), perEndpoint))
}

/** The hosts of a worker. */
export class Hosts {
  readonly #clock: Clock
  readonly #hosts = new Map<string, Host>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  of(endpoint: string): Host {
    const origin = URL.parse(endpoint)?.origin ?? ''
    const known = this.#hosts.get(origin)
    if (known !== undefined) return known
    if (this.#hosts.size >= maxRemembered) {
      for (const [name, host] of this.#hosts) if (host.isUnused) this.#hosts.delete(name)
    }
    const host = new Host(this.#clock)
    this.#hosts.set(origin, host)
    return host
  }

  /** Concurrent POSTs to hosts that hang. They share one half; otherwise two of them could occupy every slot. */
  countHung(): number {
    return this.listHung().reduce((count, host) => count + host.posting, 0)
  }

  listHung(): readonly Host[] {
    return [...this.#hosts.values()].filter((host) => host.isHung())
  }

  /** Whether no host has responded for half a minute although several were tried. */
  areSilent(): boolean {
    const tried = [...this.#hosts.values()].map((host) => host.silence()).filter(({ isRecent }) => isRecent)
    return tried.length >= minSilentHosts && tried.every(({ ms }) => ms >= silentMs)
  }
}
