import type { HostShare, Limits, Posting } from '../queue/host-shares.ts'

type Resolve = (posting: Posting | undefined) => void

/** Limits the concurrent POSTs in total and for each host. */
export class PostingSlots {
  #taken = 0
  #limits: Limits = { total: 1, perEndpoint: 1 }
  #isClosed = false
  /** Waiting deliveries by host, in order of arrival. Hosts take turns. */
  readonly #waiting = new Map<HostShare, Resolve[]>()

  setLimits(limits: Limits): void {
    this.#limits = limits
    this.#fill()
  }

  /** @returns undefined, with nothing to release, if the slots are closed or the delivery should not wait */
  acquire(host: HostShare): Promise<Posting | undefined> | Posting | undefined {
    if (this.#isClosed) return undefined
    if (this.#isFree(host)) return this.#begin(host)
    return new Promise((resolve) => {
      const others = this.#waiting.get(host)
      if (others === undefined) this.#waiting.set(host, [resolve])
      else others.push(resolve)
    })
  }

  release(posting: Posting): void {
    this.#taken--
    posting.host.end(posting)
    this.#fill()
  }

  /** Releases the deliveries that wait for slow hosts: they occupy room that others could use. */
  dropSlow(): void {
    for (const host of this.#waiting.keys()) if (host.isSlow()) this.#drop(host)
  }

  /** Releases all waiting deliveries. */
  dropAll(): void {
    for (const host of this.#waiting.keys()) this.#drop(host)
  }

  /** Starts no more POSTs, and releases all waiting deliveries. */
  close(): void {
    this.#isClosed = true
    this.dropAll()
  }

  #drop(host: HostShare): void {
    const dropped = this.#waiting.get(host) ?? []
    this.#waiting.delete(host)
    for (const resolve of dropped) resolve(undefined)
  }

  #isFree(host: HostShare): boolean {
    return this.#taken < this.#limits.total && host.posting < host.maxPostings(this.#limits)
  }

  #begin(host: HostShare): Posting {
    this.#taken++
    return host.begin()
  }

  #fill(): void {
    while (this.#taken < this.#limits.total) {
      const host = this.#waiting.keys().find((one) => this.#isFree(one))
      if (host === undefined) return
      const resolves = this.#waiting.get(host)!
      const resolve = resolves.shift()!
      this.#waiting.delete(host)
      if (resolves.length > 0) this.#waiting.set(host, resolves)
      resolve(this.#begin(host))
    }
  }
}
