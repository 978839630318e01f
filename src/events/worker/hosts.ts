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

/** What waits for a host: a subscription with deliveries to post. */
export interface Waiting<One> {
  readonly host: Host<One>
  readonly recipient: { readonly endpoint: string }
}

/** One host: all endpoints with the same scheme, name and port, regardless of the subscriber. */
export class Host<One> {
  readonly #clock: Clock
  /** When each POST in flight began, oldest first. */
  readonly #postings = new Map<object, number>()
  /** POSTs in flight by endpoint. */
  readonly #byEndpoint = new Map<string, number>()
  /** Duration of the last completed POST. */
  #lastMs: number | undefined
  #silentSince: number | undefined
  #triedAt = -Infinity
  /** Deliveries in memory that are not in flight. */
  queued = 0
  /** Whether deliveries were left out because it had not responded yet. */
  isCut = false
  /** Subscriptions in memory that have it. */
  users = 0
  /** What may have a delivery to start; the first one is next. */
  readonly ready = new Set<One>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get posting(): number {
    return this.#postings.size
  }

  postingTo(endpoint: string): number {
    return this.#byEndpoint.get(endpoint) ?? 0
  }

  begin(posting: object, endpoint: string): void {
    const now = this.#clock.monotonic()
    this.#postings.set(posting, now)
    this.#byEndpoint.set(endpoint, this.postingTo(endpoint) + 1)
    this.#triedAt = now
    this.#silentSince ??= now
  }

  /** `hasResponse`: whether it got an HTTP response, with any status. */
  end(posting: object, { endpoint, hasResponse }: { endpoint: string; hasResponse: boolean }): void {
    this.#lastMs = this.#clock.monotonic() - this.#postings.get(posting)!
    this.#postings.delete(posting)
    const others = this.postingTo(endpoint) - 1
    if (others > 0) this.#byEndpoint.set(endpoint, others)
    else this.#byEndpoint.delete(endpoint)
    if (hasResponse) this.#silentSince = undefined
  }

  /** Whether it was tried in the last half minute. */
  get isTried(): boolean {
    return this.posting > 0 || this.#clock.monotonic() - this.#triedAt < silentMs
  }

  /** Whether it has not responded for half a minute. */
  get isSilent(): boolean {
    return this.#silentSince !== undefined && this.#clock.monotonic() - this.#silentSince >= silentMs
  }

  /** By the last POST that ended and the oldest one in flight. */
  get pace(): Pace {
    const [oldest] = this.#postings.values()
    const runningMs = oldest === undefined ? 0 : this.#clock.monotonic() - oldest
    const slowestMs = Math.max(this.#lastMs ?? 0, runningMs)
    if (slowestMs < slowMs) return this.#lastMs === undefined ? 'unknown' : 'quick'
    return slowestMs < hungMs ? 'slow' : 'hung'
  }

  get isSlow(): boolean {
    const { pace } = this
    return pace === 'slow' || pace === 'hung'
  }
}

type Pace = 'unknown' | 'quick' | 'slow' | 'hung'

/** The most concurrent POSTs to a host: nearly all slots if it responds quickly, otherwise the default share. */
export function maxPostings(pace: Pace, limits: Limits): number {
  return pace === 'quick' ? limits.total - Math.floor(limits.total / 8) : defaultShare(limits)
}

/**
 * Half of a worker's concurrent POSTs, so that a hanging host does not block the others, regardless of how many
 * endpoints it has. At least the limit of one endpoint.
 */
export function defaultShare({ total, perEndpoint }: Limits): number {
  return Math.min(total, Math.max(Math.ceil(total / 2), perEndpoint))
}

/** The hosts of a worker, and which is next: first hosts alternate, then what waits for a host. */
export class Hosts<One extends Waiting<One>> {
  readonly #clock: Clock
  readonly #hosts = new Map<string, Host<One>>()
  /** Hosts that may have something to start; the first one is next. */
  readonly #ready = new Set<Host<One>>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  of(endpoint: string): Host<One> {
    const origin = URL.parse(endpoint)?.origin ?? ''
    const known = this.#hosts.get(origin)
    if (known !== undefined) return known
    if (this.#hosts.size >= maxRemembered) {
      for (const [name, { users, posting }] of this.#hosts) if (users + posting === 0) this.#hosts.delete(name)
    }
    const host = new Host<One>(this.#clock)
    this.#hosts.set(origin, host)
    return host
  }

  /** It may have a delivery to start. */
  wake(one: One): void {
    one.host.ready.add(one)
    this.#ready.add(one.host)
  }

  /**
   * Returns what may start a delivery next. What cannot start now is left out until it is woken; so is a host until
   * one of its POSTs ends.
   */
  next(limits: Limits, mayStart: (one: One) => boolean): One | undefined {
    for (const host of this.#ready) {
      const one = this.#hasRoom(host, limits) ? nextOf(host, limits, mayStart) : undefined
      this.#ready.delete(host)
      if (one === undefined) continue
      this.#ready.add(host)
      return one
    }
    return undefined
  }

  #hasRoom(host: Host<One>, limits: Limits): boolean {
    const { pace, posting } = host
    return posting < maxPostings(pace, limits) && (pace !== 'hung' || this.countHung() < defaultShare(limits))
  }

  /** Ends a POST, so that others may begin. */
  end(host: Host<One>, posting: object, of: { endpoint: string; hasResponse: boolean }): void {
    const wasHung = host.pace === 'hung'
    host.end(posting, of)
    // Others that hang may have waited for its place.
    for (const one of wasHung ? [host, ...this.#listHung()] : [host]) if (one.ready.size > 0) this.#ready.add(one)
  }

  /** Concurrent POSTs to hosts that hang. They share one half; otherwise two of them could occupy every slot. */
  countHung(): number {
    return this.#listHung().reduce((count, host) => count + host.posting, 0)
  }

  #listHung(): readonly Host<One>[] {
    return [...this.#hosts.values()].filter((host) => host.pace === 'hung')
  }

  /** Whether no host has responded for half a minute although several were tried. */
  areSilent(): boolean {
    const tried = [...this.#hosts.values()].filter((host) => host.isTried)
    return tried.length >= minSilentHosts && tried.every((host) => host.isSilent)
  }
}

/** Chooses the next of a host. Those whose endpoint has no room keep their place. */
function nextOf<One extends Waiting<One>>(
  host: Host<One>,
  { perEndpoint }: Limits,
  mayStart: (one: One) => boolean,
): One | undefined {
  for (const one of host.ready) {
    if (host.postingTo(one.recipient.endpoint) >= perEndpoint) continue
    host.ready.delete(one)
    if (!mayStart(one)) continue
    host.ready.add(one)
    return one
  }
  return undefined
}
