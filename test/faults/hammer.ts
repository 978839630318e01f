import assert from 'node:assert/strict'
import { Agent } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { timeUntil } from '../auth/world.ts'
import { send } from '../support/send.ts'

/** A request and how it ended; times are of this process's monotonic clock. */
export interface Asked {
  readonly began: number
  readonly status: number
}

/** Asks a server the same thing again and again, over a few connections that stay, until it is stopped. */
export interface Hammer {
  /** Every request so far, in the order in which they ended. */
  readonly asked: readonly Asked[]
  stop(): Promise<void>
}

const pauseMs = 8
/** How long after a change, by the promise, a server may go by what it knew before. */
const limitMs = 1000
/** How many requests that began later have to be seen until it is said that they are refused. */
const enough = 20

export function hammer(port: number, headers: Readonly<Record<string, string>>): Hammer {
  const agent = new Agent({ keepAlive: true })
  const asked: Asked[] = []
  const stopping = new AbortController()
  async function ask(): Promise<void> {
    while (!stopping.signal.aborted) {
      const began = performance.now()
      const { status } = await send(port, { path: '/who', headers, agent })
      asked.push({ began, status })
      await pause(pauseMs)
    }
  }
  const lanes = [ask(), ask()]
  return {
    asked,
    async stop() {
      stopping.abort()
      await Promise.all(lanes)
      agent.destroy()
    },
  }
}

/**
 * Asks on until enough requests began later than the limit after a change, and fails when one of these was let in.
 * @returns for each server the latest moment after the change, in milliseconds, at which a request began that was let in
 */
export async function assertRefused(
  hammers: readonly Hammer[],
  since: number,
  expected: readonly number[] = [401],
): Promise<number[]> {
  const lateOf = ({ asked }: Hammer) => asked.filter(({ began }) => began > since + limitMs)
  try {
    await timeUntil(async () => hammers.every((one) => lateOf(one).length >= enough), 30_000)
  } finally {
    await Promise.all(hammers.map((one) => one.stop()))
  }
  for (const { began, status } of hammers.flatMap(lateOf)) {
    assert.ok(expected.includes(status), `${status} for a request ${Math.round(began - since)} ms after the change`)
  }
  return hammers.map(({ asked }) =>
    Math.round(Math.max(0, ...asked.flatMap(({ began, status }) => (status === 200 ? [began - since] : [])))),
  )
}
