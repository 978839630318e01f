import type { Clock } from '../../kit/index.ts'

/** A POST that takes longer makes its host slow. */
const slowMs = 1000
/** A POST that takes longer than this is unlikely to finish soon. */
const hungMs = 5000
/** The most endpoints and hosts that are cached; beyond that the caches are cleared. */
const maxCached = 1000

/** How many POSTs a worker sends concurrently, in total and to one endpoint. */
export interface Limits {
  readonly total: number
  readonly perEndpoint: number
}

/** One POST in flight. */
export interface Posting {
  readonly host: HostShare
  readonly began: number
}

/** A worker's share for one host: all endpoints with the same scheme, name and port, regardless of the subscriber. */
export class HostShare {
  readonly #clock: Clock
  readonly #postings = new Set<Posting>()
  /** Duration of the last completed POST. */
  #lastMs: number | undefined
  /** Claimed deliveries that are not finished. */
  claimed = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** POSTs in flight. */
  get posting(): number {
    return this.#postings.size
  }

  begin(): Posting {
    const posting = { host: this, began: this.#clock.monotonic() }
    this.#postings.add(posting)
    return posting
  }

  end(posting: Posting): void {
    this.#postings.delete(posting)
    this.#lastMs = this.#clock.monotonic() - posting.began
  }

  /** Whether a POST has been in flight for a long time. */
  isSlow(): boolean {
    return this.#oldestMs() >= slowMs
  }

  /** Whether the last answer was slow, or a current POST is. */
  #isDoubtful(): boolean {
    return (this.#lastMs ?? 0) >= slowMs || this.isSlow()
  }

  isHung(): boolean {
    return (this.#lastMs ?? 0) >= hungMs || this.#oldestMs() >= hungMs
  }

  /** Sets keep insertion order: the first entry is the oldest. */
  #oldestMs(): number {
    const [oldest] = this.#postings
    return oldest === undefined ? 0 : this.#clock.monotonic() - oldest.began
  }

  /** The most concurrent POSTs to this host: nearly all slots if it answered quickly, otherwise the default share. */
  maxPostings(limits: Limits): number {
    const isQuick = this.#lastMs !== undefined && !this.#isDoubtful()
    return isQuick ? limits.total - Math.floor(limits.total / 8) : defaultShare(limits)
  }

  /**
   * The most deliveries that may be claimed for this host: unlimited, so that claims are large, until it is slow.
   * Claimed deliveries that find no slot are released.
   */
  maxClaimed(limits: Limits): number {
    return this.#isDoubtful() ? defaultShare(limits) : Infinity
  }
}

/**
 * Half of a worker's concurrent POSTs, so that a hanging host does not block the others, regardless of how many
 * endpoints it has. At least the limit of one endpoint.
 */
function defaultShare({ total, perEndpoint }: Limits): number {
  return Math.min(total, Math.max(Math.ceil(total / 2), perEndpoint))
}

/** Counts the deliveries chosen for a claim, by host. */
export interface HostCount {
  /** Counts one more delivery for the host of this endpoint. Returns false if the host has no room for it. */
  reserve(endpoint: string): boolean
  /** Whether a delivery was skipped for a host that is likely to have room soon. */
  readonly isHeld: boolean
}

/** The shares of a worker for all hosts. */
export class HostShares {
  readonly #clock: Clock
  readonly #hosts = new Map<string, HostShare>()
  readonly #origins = new Map<string, string>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Counts a claimed delivery until `release`. */
  claim(endpoint: string): HostShare {
    const origin = this.#originOf(endpoint)
    let host = this.#hosts.get(origin)
    if (host === undefined) {
      if (this.#hosts.size >= maxCached) this.#evict()
      host = new HostShare(this.#clock)
      this.#hosts.set(origin, host)
    }
    host.claimed++
    return host
  }

  release(host: HostShare): void {
    host.claimed--
  }

  #evict(): void {
    for (const [origin, { claimed }] of this.#hosts) if (claimed === 0) this.#hosts.delete(origin)
  }

  /** Hanging hosts have one share together; otherwise two of them could occupy every slot. */
  count(limits: Limits): HostCount {
    const chosen = new Map<string, number>()
    const hung = new Set(this.#hosts.values().filter((host) => host.isHung()))
    let ofHung = hung.values().reduce((sum, { claimed }) => sum + claimed, 0)
    const reserve = (endpoint: string) => {
      const origin = this.#originOf(endpoint)
      if (origin === '') return true // its subscription was deleted: nothing is posted
      const host = this.#hosts.get(origin)
      const isHung = host !== undefined && hung.has(host)
      const more = chosen.get(origin) ?? 0
      const isOverHost = (host?.claimed ?? 0) + more >= (host?.maxClaimed(limits) ?? Infinity)
      if (isOverHost || (isHung && ofHung >= defaultShare(limits))) {
        count.isHeld ||= !isHung
        return false
      }
      if (isHung) ofHung++
      chosen.set(origin, more + 1)
      return true
    }
    const count = { reserve, isHeld: false }
    return count
  }

  #originOf(endpoint: string): string {
    const known = this.#origins.get(endpoint)
    if (known !== undefined) return known
    if (this.#origins.size >= maxCached) this.#origins.clear()
    const origin = URL.parse(endpoint)?.origin ?? ''
    this.#origins.set(endpoint, origin)
    return origin
  }
}
