import assert from 'node:assert/strict'
import { Agent } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { send } from '../support/send.ts'
import { until } from '../support/until.ts'

/** A request and how it ended; times are of this process's monotonic clock. */
export interface Asked {
  readonly began: number
  readonly ended: number
  readonly status: number
}

/** Asks a server the same thing again and again, over a few connections that stay, until it is stopped. */
export interface Hammer {
  /** Every request so far, in the order in which they ended. */
  readonly asked: readonly Asked[]
  stop(): Promise<void>
}

const pauseMs = 8
/** How many requests in a row have to be refused until it is said that they are. */
const enough = 20

export function hammer(port: number, headers: Readonly<Record<string, string>>): Hammer {
  const agent = new Agent({ keepAlive: true })
  const asked: Asked[] = []
  const stopping = new AbortController()
  async function ask(): Promise<void> {
    while (!stopping.signal.aborted) {
      const began = performance.now()
      const { status } = await send(port, { path: '/who', headers, agent })
      asked.push({ began, ended: performance.now(), status })
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
 * Asks on until each server has refused enough requests, and fails when a server let in a request that began after one
 * that it had refused: it takes a while until a change is noticed, but then it stays noticed.
 * @param since when the change was made; earlier requests do not count
 * @returns for each server the latest moment after the change, in milliseconds, at which a request began that was let in
 */
export async function assertRefused(
  hammers: readonly Hammer[],
  since: number,
  expected: readonly number[] = [401],
): Promise<number[]> {
  const later = ({ asked }: Hammer) => {
    const first = asked.find(({ began, status }) => began > since && expected.includes(status))
    return first === undefined ? [] : asked.filter(({ began }) => began > first.ended)
  }
  try {
    await until('the change is noticed', () => hammers.every((one) => later(one).length >= enough))
  } finally {
    await Promise.all(hammers.map((one) => one.stop()))
  }
  for (const { began, status } of hammers.flatMap(later)) {
    assert.ok(expected.includes(status), `${status} for a request ${Math.round(began - since)} ms after the change`)
  }
  return hammers.map(({ asked }) =>
    Math.round(Math.max(0, ...asked.flatMap(({ began, status }) => (status === 200 ? [began - since] : [])))),
  )
}
