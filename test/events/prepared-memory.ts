// The memory of a worker with deliveries that no database holds.
import type { Message, Recipient } from '../../src/events/lanes/contents.ts'
import type { Delivery } from '../../src/events/lanes/read.ts'
import { Memory } from '../../src/events/worker/memory.ts'
import type { Loaded } from '../../src/events/worker/queues.ts'
import { makeTestClock } from '../support/clock.ts'

/** Nothing is recorded beside a note. */
export const none: ReadonlySet<Loaded> = new Set()

/** A memory with a clock that only tests move. */
export function prepare(limits: { total?: number; perEndpoint?: number } = {}) {
  const clock = makeTestClock()
  clock.freeze()
  const memory = new Memory(clock)
  memory.queues.limits = { total: 64, perEndpoint: 8, ...limits }
  memory.setTime(1000, clock.monotonic())
  return {
    memory,
    clock,
    /** By default, each subscription has a host of its own, and each message exists. */
    admit(
      rows: readonly Delivery[],
      recipients: ReadonlyMap<string, Recipient | undefined> = new Map(
        rows.map((row) => [row.subscription, recipientOf(row.subscription)]),
      ),
      messages: ReadonlyMap<string, Message | null | undefined> = new Map(
        rows.map((row) => [row.message, { event: 'note', data: '1' }]),
      ),
    ) {
      memory.setTime(1000, clock.monotonic())
      return memory.admit(rows, { recipients, messages })
    },
  }
}

export function deliveryOf(n: number, changes: Partial<Delivery> = {}): Delivery {
  const message = `msg_${n}`
  return {
    id: `dlv_${n}`,
    message,
    subscription: `sub_${n}`,
    turn: 0,
    failures: 0,
    lost: 0,
    lane: 0,
    dueAt: 0,
    ...changes,
  }
}

export function recipientOf(id: string): Recipient {
  return {
    subscriptionId: id,
    isAllowed: true,
    isHeld: false,
    endpoint: `http://${id}.test/`,
    revision: 1,
    secret: '',
    previousSecrets: null,
    isOrdered: false,
    failures: 0,
    openUntil: null,
    failingSince: null,
  }
}

/** Writes a note. */
export function note(memory: Memory): void {
  memory.note.confirm(memory.note.choose(none))
}

export function startAll(memory: Memory): string[] {
  const ids: string[] = []
  for (let row = memory.queues.startNext(); row !== undefined; row = memory.queues.startNext()) ids.push(row.id)
  return ids
}

export function end(memory: Memory, row: Loaded): boolean {
  return memory.queues.end(row, true)
}

/** Of all that is held. */
export function idsOf(memory: Memory): readonly string[] {
  return memory.note.choose(none).map(({ id }) => id)
}
