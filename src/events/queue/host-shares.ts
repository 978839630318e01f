import type { Clock } from '../../kit/index.ts'

/** A POST that takes longer makes its host a slow one. */
const slowMs = 1000
/** And one that takes so long lets nobody expect that it ends soon. */
const hungMs = 5000
/** Endpoints whose hosts are known by heart, and hosts of which it is known how they were; then they are read anew. */
const mostKnown = 1000

/** How many POSTs a worker makes at once, and how many of them to one endpoint. */
export interface Limits {
  readonly total: number
  readonly perEndpoint: number
}

/** One POST under way. */
export interface Posting {
  readonly host: HostShare
  readonly began: number
}

/** What one host has of a worker: all endpoints with its scheme, name and port, whoever subscribed them. */
export class HostShare {
  readonly #clock: Clock
  readonly #postings = new Set<Posting>()
  /** How long the last POST took that ended. */
  #lastMs: number | undefined
  /** Deliveries that were claimed and have not ended. */
  claimed = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** POSTs under way. */
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

  /** Whether a POST has been under way for long. */
  isSlow(): boolean {
    return this.#oldestMs() >= slowMs
  }

  /** Whether it was slow when it answered last, or is now. */
  #isDoubtful(): boolean {
    return (this.#lastMs ?? 0) >= slowMs || this.isSlow()
  }

  isHung(): boolean {
    return (this.#lastMs ?? 0) >= hungMs || this.#oldestMs() >= hungMs
  }

  /** The first that began is the first of the set. */
  #oldestMs(): number {
    const [oldest] = this.#postings
    return oldest === undefined ? 0 : this.#clock.monotonic() - oldest.began
  }

  /** How many POSTs at once may be to this host: nearly all once it has answered at once, else its usual share. */
  mostOf(limits: Limits): number {
    const isQuick = this.#lastMs !== undefined && !this.#isDoubtful()
    return isQuick ? limits.total - Math.floor(limits.total / 8) : usualShare(limits)
  }

  /**
   * How many deliveries may be claimed for it: as many as can be, so that claims are large, until it is slow. What then
   * waits for a place is given back.
   */
  mostClaimed(limits: Limits): number {
    return this.#isDoubtful() ? usualShare(limits) : Infinity
  }
}

/**
 * Half of what a worker posts at once, so that a host that hangs does not hold up the others, whatever number of endpoints
 * it has; and where that is little, as much as one endpoint may have.
 */
function usualShare({ total, perEndpoint }: Limits): number {
  return Math.min(total, Math.max(Math.ceil(total / 2), perEndpoint))
}

/** Counts what is chosen to be claimed, host by host. */
export interface HostCount {
  /** Whether one more may be claimed for the host of this endpoint, which then counts. */
  take(endpoint: string): boolean
  /** Whether something was left for a host that is likely to have room soon. */
  readonly isHeld: boolean
}

/** What each host has of a worker. */
export class HostShares {
  readonly #clock: Clock
  readonly #hosts = new Map<string, HostShare>()
  readonly #origins = new Map<string, string>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Counts a delivery that was claimed, until it is left. */
  claim(endpoint: string): HostShare {
    const origin = this.#originOf(endpoint)
    let host = this.#hosts.get(origin)
    if (host === undefined) {
      if (this.#hosts.size >= mostKnown) this.#forget()
      host = new HostShare(this.#clock)
      this.#hosts.set(origin, host)
    }
    host.claimed++
    return host
  }

  leave(host: HostShare): void {
    host.claimed--
  }

  #forget(): void {
    for (const [origin, { claimed }] of this.#hosts) if (claimed === 0) this.#hosts.delete(origin)
  }

  /** Those that hang have one share together: two of them would have all places. */
  count(limits: Limits): HostCount {
    const chosen = new Map<string, number>()
    const hung = new Set(this.#hosts.values().filter((host) => host.isHung()))
    let ofHung = hung.values().reduce((sum, { claimed }) => sum + claimed, 0)
    const take = (endpoint: string) => {
      const origin = this.#originOf(endpoint)
      if (origin === '') return true // of a subscription that is gone: nothing is posted
      const host = this.#hosts.get(origin)
      const isHung = host !== undefined && hung.has(host)
      const more = chosen.get(origin) ?? 0
      const isOverHost = (host?.claimed ?? 0) + more >= (host?.mostClaimed(limits) ?? Infinity)
      if (isOverHost || (isHung && ofHung >= usualShare(limits))) {
        count.isHeld ||= !isHung
        return false
      }
      if (isHung) ofHung++
      chosen.set(origin, more + 1)
      return true
    }
    const count = { take, isHeld: false }
    return count
  }

  #originOf(endpoint: string): string {
    const known = this.#origins.get(endpoint)
    if (known !== undefined) return known
    if (this.#origins.size >= mostKnown) this.#origins.clear()
    const origin = URL.parse(endpoint)?.origin ?? ''
    this.#origins.set(endpoint, origin)
    return origin
  }
}
