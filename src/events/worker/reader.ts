import { cancelOf, cancelOrphans, endLost, type EndedDelivery } from '../lanes/end-deliveries.ts'
import type { Member } from '../lanes/member.ts'
import { loadMessages, loadRecipients } from '../lanes/contents.ts'
import { readDeliveries, type Delivery, type LanePosition, type Terms } from '../lanes/read.ts'
import type { EventCatalog } from '../message/catalog.ts'
import { moveDelayed } from '../message/delayed.ts'
import { fanOutChunk, findMessages } from '../message/fan-out.ts'
import type { Clock, Settings } from '../../kit/index.ts'
import type { System } from '../../store/index.ts'
import { LowWater } from './low-water.ts'
import type { Contents, Memory } from './memory.ts'

const intervalMs = 250
const messageIntervalMs = 50
/** How often delayed events become messages while others wait for their fan-out. */
const moveIntervalMs = 1000
/** Deliveries in memory below which more are read. */
const readBelow = 500
/** The same, below which a message with many subscribers continues. Higher, because its deliveries are read afterwards. */
const fanOutBelow = 750
const readSize = 500
/** Readings that find nothing, after which a round through many lanes is not continued at once. */
const maxEmptyRounds = 100

export interface ReaderOptions {
  readonly system: System
  readonly clock: Clock
  catalog(): EventCatalog
  settings(): Settings
}

interface Parts extends ReaderOptions {
  readonly member: Member
  readonly memory: Memory
  /** Called with deliveries that ended because they lost too many workers. */
  onLost(deliveries: readonly EndedDelivery[]): void
}

/** Fills the memory of a worker with what is due in its lanes, and creates the deliveries of messages. */
export class Reader {
  readonly #parts: Parts
  readonly #positions = new Map<number, LanePosition>()
  readonly #lowWater = new LowWater()
  #nextMessagesAt = -Infinity
  #nextMoveAt = -Infinity
  /** Whether a message was seen whose fan-out is partly done. */
  #hasBegun = false
  /** Whether such a message was continued since the last reading. */
  #isAhead = false
  #nextReadAt = -Infinity
  #foundLast = false
  /** Whether the last reading did not reach the end of many lanes. */
  #isPartial = false
  #emptyRounds = 0

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Whether memory is low, and more was found the last time. */
  get wantsMore(): boolean {
    const { queued, hasRoomAgain } = this.#parts.memory.queues
    return this.#hasBegun && !this.#isAhead
      ? queued < fanOutBelow
      : queued < readBelow && (this.#foundLast || this.#isAhead || hasRoomAgain)
  }

  get isLow(): boolean {
    return this.#parts.memory.queues.queued < readBelow
  }

  terms(): Terms {
    return { catalog: this.#parts.catalog(), settings: this.#parts.settings() }
  }

  /** Begins again, after the worker has lost its lanes. */
  reset(): void {
    this.#positions.clear()
    this.#lowWater.clear()
  }

  /** Reads from now on what its marks have left out. */
  forgetMarks(): void {
    this.#lowWater.clear()
  }

  /**
   * Creates a part of the deliveries of messages. A message with many subscribers continues when memory is low and the last
   * part has been looked for, so that other events are never behind all of it.
   */
  async fanOut(): Promise<'done' | 'nothing' | 'locked'> {
    const { system, catalog, clock, memory } = this.#parts
    const now = clock.monotonic()
    const isLow = memory.queues.queued < fanOutBelow
    if (memory.size > 0 && now < this.#nextMessagesAt && !(isLow && this.#hasBegun)) return 'nothing'
    const { fresh, begun, isMoved, isWaiting } = await this.#findMessages(now)
    this.#hasBegun = begun
    this.#nextMessagesAt = isLow && fresh ? now : now + messageIntervalMs
    const hasFanned = fresh && (await fanOutChunk(system, catalog(), 'fresh'))
    if (hasFanned || isMoved) return 'done'
    if (!isLow || (this.#isPartial && memory.queues.queued >= 2 * memory.queues.limits.total)) return 'nothing'
    // A worker without lanes would create deliveries for others, however many of these wait.
    if (begun && (this.#isAhead || this.#parts.member.lanes.length === 0)) return 'nothing'
    if (begun && (this.#isAhead = await fanOutChunk(system, catalog(), 'begun'))) return 'done'
    return isWaiting ? 'locked' : 'nothing'
  }

  /** Makes messages of delayed events that are due. If many are, other messages do not wait behind all of them. */
  async #findMessages(now: number) {
    const { system, catalog } = this.#parts
    const { fresh, begun, delayed } = await findMessages(system, catalog())
    let isMoved = false
    if (delayed && (!fresh || now >= this.#nextMoveAt)) {
      this.#nextMoveAt = now + moveIntervalMs
      isMoved = (await moveDelayed(system, catalog())) > 0
    }
    return { fresh: fresh || isMoved, begun, isMoved, isWaiting: fresh || begun || delayed }
  }

  /**
   * Reads what is due in the own lanes if little is in memory: as long as something is found, and otherwise from time to
   * time, or when nothing is left to do.
   * @returns whether something was found, or may be found by the next reading
   */
  async read(): Promise<boolean> {
    const { clock, memory } = this.#parts
    const isUseful = this.#foundLast || this.#isAhead || memory.size === 0 || memory.queues.hasRoomAgain
    if (this.isLow && (isUseful || clock.monotonic() >= this.#nextReadAt)) {
      this.#foundLast = false
      this.#foundLast = await this.#readLanes()
      if (this.#foundLast) return true
    }
    await this.#readRecipients([])
    return false
  }

  async #readLanes(): Promise<boolean> {
    const { system, clock, memory, member } = this.#parts
    const { lanes } = member
    if (lanes.length === 0 || member.isLeaving || !member.isLive()) return false
    const monotonic = clock.monotonic()
    const now = Math.min(clock.now(), memory.now())
    const positions = lanes.map((lane) => {
      const position = this.#positions.get(lane) ?? { lane, after: '', from: '', later: [0, ''] as const }
      const from =
        position.after === '' ? this.#lowWater.begin(lane, { now, monotonic }) : this.#lowWater.resume(lane, monotonic)
      return { ...position, from }
    })
    this.#nextReadAt = monotonic + intervalMs
    memory.beginReading()
    try {
      const growth = 4 ** Math.min(this.#emptyRounds, 3)
      const perLane = (isPartial: (position: LanePosition) => boolean) =>
        Math.ceil(((2 * readSize + memory.size) / (positions.filter(isPartial).length || lanes.length)) * growth)
      const reading = await readDeliveries(system, {
        positions,
        loaded: memory.listSubscriptions(),
        ...this.terms(),
        size: Math.min(readSize, memory.room()),
        maxSubscriptions: perLane((position) => position.after !== ''),
        maxLater: perLane((position) => position.later[0] !== 0),
        clock,
      })
      this.#isAhead = false
      const { isSlow } = reading
      for (const position of reading.positions) {
        this.#positions.set(position.lane, position)
        this.#lowWater.found(position.lane, { oldest: reading.oldest.get(position.lane), isSlow })
        if (position.after === '') this.#lowWater.end(position.lane, monotonic)
      }
      const partial = reading.positions.filter((position) => position.after !== '' || position.later[0] !== 0)
      this.#isPartial = partial.length > lanes.length / 4
      const hasFound = await this.#admit(reading.deliveries)
      this.#emptyRounds = hasFound ? 0 : this.#emptyRounds + 1
      // A round that found nothing is continued until its end.
      return hasFound || (partial.length > 0 && this.#emptyRounds <= maxEmptyRounds)
    } finally {
      memory.endReading()
    }
  }

  /** Takes deliveries into memory, or ends them. @returns whether there were any */
  async #admit(deliveries: readonly Delivery[]): Promise<boolean> {
    const { system, memory, member } = this.#parts
    const recipients = await this.#readRecipients(deliveries.map((one) => one.subscription))
    const messages = await this.#readMessages(memory.listUnknownMessages(deliveries))
    const before = memory.size
    const lanes = new Set(member.lanes)
    const own = deliveries.filter((one) => lanes.has(one.lane))
    const { ended, lost, orphans } = memory.admit(own, { recipients, messages })
    for (const [id, lane] of ended) await cancelOf(system, { id, lane })
    if (orphans.length > 0) await cancelOrphans(system, orphans)
    if (lost.length > 0) this.#parts.onLost(await endLost(system, lost))
    return memory.size > before || ended.size + orphans.length + lost.length > 0
  }

  async #readMessages(ids: readonly string[]): Promise<Contents['messages']> {
    const { system, memory } = this.#parts
    const found = ids.length === 0 ? [] : await loadMessages(system, ids, memory.bodyRoom)
    return new Map([...ids.map((id) => [id, undefined] as const), ...found])
  }

  /** Reads subscriptions, and those in memory again before what was read is too old to post on. */
  async #readRecipients(subscriptions: readonly string[]): Promise<Contents['recipients']> {
    const { system, clock, memory } = this.#parts
    const asked = memory.listUnread(subscriptions)
    if (asked.length === 0) return new Map()
    const at = clock.monotonic()
    const { recipients, now } = await loadRecipients(system, asked, this.terms())
    memory.setTime(now, at)
    const known = recipients.map((one) => [one.subscriptionId, one] as const)
    const found = new Map([...asked.map((id) => [id, undefined] as const), ...known])
    memory.applyRecipients(found, at)
    return found
  }
}
