import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'

/** How long a test waits for an event, in milliseconds: far longer than the event takes on a busy machine. */
export const abortTimeoutMs = 180_000

/**
 * Waits until a condition holds, and fails after three minutes. Does not measure how long it took; `npm run bench` measures
 * time.
 * @param what the event, for the message of a failure
 */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const start = performance.now()
  while (!(await holds())) {
    const waitedMs = performance.now() - start
    assert.ok(waitedMs < abortTimeoutMs, `waited ${abortTimeoutMs / 1000} s in vain: ${what}`)
    await pause(Math.min(5 + waitedMs / 10, 100)) // many tests wait at the same time
  }
}

/**
 * Waits until nothing is left, however long it takes. Fails if nothing has changed for three minutes.
 * @param describeLeft describes what is left; undefined at the end
 */
export async function untilNothingIsLeft(what: string, describeLeft: () => Promise<string | undefined>): Promise<void> {
  const nextAfter = async (before: string) => {
    let left: string | undefined
    await until(`${what}; left: ${before}`, async () => {
      left = await describeLeft()
      return left !== before
    })
    return left
  }
  for (let left = await describeLeft(); left !== undefined; left = await nextAfter(left));
}

const lookMs = 100

/**
 * Waits until a condition holds, and fails after a limit. Only counts the time between two looks if it was not much longer
 * than asked for: on a busy machine, everything takes longer.
 */
export async function untilWithin(
  limitMs: number,
  what: string,
  holds: () => boolean | Promise<boolean>,
): Promise<void> {
  const end = performance.now() + abortTimeoutMs
  for (let waited = 0; ;) {
    const start = performance.now()
    if (await holds()) return
    assert.ok(waited < limitMs && start < end, `waited ${limitMs / 1000} s in vain: ${what}`)
    await pause(lookMs)
    if (performance.now() - start < 1.3 * lookMs) waited += lookMs
  }
}
