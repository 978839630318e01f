import type { HostShare, Limits, Posting } from '../queue/host-shares.ts'

type Resolve = (posting: Posting | undefined) => void

/** Has as many POSTs begin at once as there are slots, and no more to one host than its share. */
export class PostingSlots {
  #taken = 0
  #limits: Limits = { total: 1, perEndpoint: 1 }
  #isClosed = false
  /** Who waits for each host, the first come first; hosts take turns. */
  readonly #waiting = new Map<HostShare, Resolve[]>()

  setLimits(limits: Limits): void {
    this.#limits = limits
    this.#fill()
  }

  /** @returns undefined, and there is no place to give back, once it is closed, or when it would be long */
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

  /** Has nobody wait for a host that has become slow: what was claimed counts, and others could not be. */
  dropSlow(): void {
    for (const host of this.#waiting.keys()) if (host.isSlow()) this.#drop(host)
  }

  /** Has nobody wait. */
  drop(): void {
    for (const host of this.#waiting.keys()) this.#drop(host)
  }

  /** Nobody gets a place any more, those who wait included. */
  close(): void {
    this.#isClosed = true
    this.drop()
  }

  #drop(host: HostShare): void {
    const dropped = this.#waiting.get(host) ?? []
    this.#waiting.delete(host)
    for (const resolve of dropped) resolve(undefined)
  }

  #isFree(host: HostShare): boolean {
    return this.#taken < this.#limits.total && host.posting < host.mostOf(this.#limits)
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
