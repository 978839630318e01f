import type { Noted } from '../lanes/member.ts'
import { isHalfOpen } from '../lanes/breaker.ts'
import { maxPostings, type Host } from './hosts.ts'
import type { Loaded, Subscription, Queues } from './queues.ts'

/** The most deliveries that a note contains beyond those under way, to hosts that are not slow. */
const maxAhead = 500

/** What a note is chosen from. */
export interface Choice {
  deliveries(): Iterable<Loaded>
  subscriptions(): Iterable<Subscription>
}

/**
 * What is or may be under way, in the row of the worker: if the worker dies, these deliveries count as lost. Nothing begins
 * that a committed note does not contain.
 */
export class Note {
  readonly #queues: Queues
  readonly #choice: Choice

  constructor(queues: Queues, choice: Choice) {
    this.#queues = queues
    this.#choice = choice
  }

  /** Whether nothing may begin before the next note, and either something waits for it or nothing is in flight. */
  get isUsedUp(): boolean {
    const { noted, queued, posting } = this.#queues
    return noted === 0 && (queued > 0 || posting === 0)
  }

  /** Whether few of those that may begin next are noted, and a note would allow more to begin. */
  isNeeded(): boolean {
    const { noted, limits } = this.#queues
    const alone = this.#queues.nextAlone()
    if (alone !== undefined) return alone[0]?.isNoted === false
    if (noted >= 3 * limits.total) return false // at most two thirds are for slow hosts
    const ahead = this.#chooseAhead()
    const known = ahead.filter((row) => row.isNoted).length
    return known < limits.total && known < ahead.length
  }

  /**
   * Chooses what the next note contains: what is under way, and what may begin next. Only deliveries that the committed
   * and the next note contain may begin until `confirm`.
   */
  choose(recording: ReadonlySet<Loaded>): readonly Loaded[] {
    const rows = [...this.#choice.deliveries()].filter((row) => !row.isQueued && !recording.has(row))
    const ahead = new Set(this.#queues.nextAlone() ?? this.#chooseAhead())
    this.#queues.ended = 0
    for (const row of this.#choice.deliveries()) if (row.isQueued && !ahead.has(row)) this.#queues.setNoted(row, false)
    return [...rows, ...ahead]
  }

  /** The note is committed. */
  confirm(rows: readonly Loaded[]): void {
    for (const row of rows) {
      if (!row.isQueued || !row.isLoaded) continue
      this.#queues.setNoted(row, true)
      this.#queues.wake(row.of)
    }
  }

  /** One of each subscription, then a second of each, and so on. */
  #chooseAhead(): readonly Loaded[] {
    const { limits, ended } = this.#queues
    const chosen: Loaded[] = []
    const perHost = new Map<Host<Subscription>, number>()
    // More than begin until the next note.
    let quick = Math.min(maxAhead, Math.max(3 * limits.total, 3 * ended))
    let others = 2 * limits.total
    let waiting = [...this.#choice.subscriptions()].filter((one) => one.queue.length > 0)
    for (let place = 0; waiting.length > 0; place++) {
      waiting = waiting.filter((one) => {
        const row = one.queue[place]
        if (row === undefined || (place > 0 && isHalfOpen(one.breaker))) return false
        const { host } = one
        if (!host.isSlow) {
          if (quick <= 0) return false
          quick--
        } else {
          const count = perHost.get(host) ?? host.posting
          if (others <= 0 || count >= maxPostings(host.pace, limits) || place >= limits.perEndpoint) return false
          perHost.set(host, count + 1)
          others--
        }
        chosen.push(row)
        return true
      })
    }
    return chosen
  }
}

export function toNote(rows: readonly Loaded[]): string {
  return JSON.stringify(rows.map((row): Noted => [row.id, row.turn]))
}
