import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { withDeadline, withDeadlineAfterAbort } from '../../src/kit/index.ts'

const late = () => 'late'
const block = (ms: number) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

test('work that misses its deadline gets the result of the deadline', async () => {
  const never = new Promise<string>(() => undefined)
  assert.equal(await withDeadline(never, 20, late), 'late')
  const limit = { signal: AbortSignal.abort(), limitMs: () => 20, late: (ms: number) => `late after ${ms}` }
  assert.equal(await withDeadlineAfterAbort(never, limit), 'late after 20')
})

test('a stall of the process does not use up the time of a deadline', async () => {
  const read = async () => {
    await pause(1)
    await pause(1) // what arrives during a stall is often read in several turns
    return 'read'
  }
  setImmediate(block, 440)
  assert.equal(await withDeadline(read(), 400, late), 'read')
  setImmediate(block, 440)
  const limit = { signal: AbortSignal.abort(), limitMs: () => 400, late }
  assert.equal(await withDeadlineAfterAbort(read(), limit), 'read')
})
