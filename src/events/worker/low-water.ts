import { sortedIdPrefix } from '../../kit/index.ts'

/** How often a lane is read without its mark, for messages that became deliveries late. */
const wholeMs = 10_000
/** Later messages are read in any case: their dispatch may still be in a transaction, or on a server whose clock is behind. */
const marginMs = 60_000

interface Round {
  /** The mark with which its lane is read. */
  readonly from: string
  /** If it is read without one: the oldest message that was found so far, at most the margin ago. */
  readonly oldest: string
  /** Whether a part of it took long, so that a mark is useful. */
  readonly isSlow: boolean
}

/**
 * The low-water marks of lanes: everything before them has been delivered. Without one, each reading under an old snapshot
 * of PostgreSQL passes all that was delivered since. A mark is found by a round through all subscriptions of a lane, if it
 * took long.
 */
export class LowWater {
  readonly #rounds = new Map<number, Round>()
  readonly #marks = new Map<number, { readonly from: string; readonly until: number }>()

  /**
   * Begins a round.
   * @param now of the slowest clock that is known
   * @returns the mark; empty to read all
   */
  begin(lane: number, { now, monotonic }: { readonly now: number; readonly monotonic: number }): string {
    const from = this.#markOf(lane, monotonic)
    this.#rounds.set(lane, { from, oldest: sortedIdPrefix('msg_', Math.max(0, now - marginMs)), isSlow: false })
    return from
  }

  /** Continues a round. @returns its mark, as long as it may be used; empty to read all from here on */
  resume(lane: number, monotonic: number): string {
    const hasMark = this.#rounds.get(lane)?.from !== ''
    return hasMark ? this.#markOf(lane, monotonic) : ''
  }

  #markOf(lane: number, monotonic: number): string {
    const mark = this.#marks.get(lane)
    return mark !== undefined && monotonic < mark.until ? mark.from : ''
  }

  /** @param part of a round without a mark: the oldest message that it has found, and whether it took long */
  found(lane: number, part: { readonly oldest: string | undefined; readonly isSlow: boolean }): void {
    const round = this.#rounds.get(lane)
    if (round === undefined) return
    const oldest = part.oldest !== undefined && part.oldest < round.oldest ? part.oldest : round.oldest
    this.#rounds.set(lane, { ...round, oldest, isSlow: round.isSlow || part.isSlow })
  }

  /** The round has visited all subscriptions of the lane. */
  end(lane: number, monotonic: number): void {
    const round = this.#rounds.get(lane)
    this.#rounds.delete(lane)
    if (round?.from !== '' || !round.isSlow) return
    // Less than the oldest message, which must be read.
    this.#marks.set(lane, { from: round.oldest.slice(0, -1), until: monotonic + wholeMs })
  }

  /** The next rounds read all. */
  clear(): void {
    this.#rounds.clear()
    this.#marks.clear()
  }
}
