import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ClaimedRun } from '../../src/events/index.ts'
import { RunQueue } from '../../src/events/run/run-queue.ts'

const base = { name: 'act', timeoutMs: 1000, retries: undefined, concurrency: 4, once: false } as const
const terms = { ...base, isExclusive: false, starts: undefined }

let count = 0
function claimed(size: number, data = '{}'): ClaimedRun[] {
  return Array.from({ length: size }, () => {
    const id = `run_${count++}`
    const rest = { message: 'msg_1', event: 'acted', dispatchedAt: 0, turn: 1, failures: 0, postponed: 0, lost: 0 }
    return { ...rest, id, listener: 'act', data, dueAt: count }
  })
}

/** Claims, starts and ends runs at one moment. */
function runQuickly(queue: RunQueue, size: number, now: number): void {
  for (let left = size; left > 0;) {
    queue.add(claimed(Math.min(left, 4)), now)
    const started = queue.start(now)
    started.forEach(() => queue.ended(now, true))
    left -= started.length
  }
}

test('a worker claims ahead what of a listener ended in the last moment, and starts no more at once than allowed', () => {
  const queue = new RunQueue(terms)
  assert.equal(queue.room(0), 4)
  runQuickly(queue, 40, 50)
  assert.equal(queue.room(50), 4 + 40)
  queue.add(claimed(44), 50)
  assert.equal(queue.start(50).length, 4)
  assert.equal(queue.room(50), 0, 'more than half of what is claimed ahead waits')
  for (let n = 0; n < 4; n++) queue.ended(60, true)
  assert.equal(queue.start(60).length, 4)
})

test('a listener whose runs take long, or fail, claims nothing ahead', () => {
  const slow = new RunQueue(terms)
  runQuickly(slow, 40, 0)
  assert.equal(slow.room(1000), 4)
  const failing = new RunQueue(terms)
  failing.add(claimed(4), 0)
  failing.start(0).forEach(() => failing.ended(0, false))
  assert.equal(failing.room(0), 4)
})

test('nothing is claimed ahead that another run with the same key, or a window of starts, keeps waiting', () => {
  for (const one of [
    { ...terms, isExclusive: true },
    { ...terms, starts: { limit: 100, windowMs: 1000 } },
  ]) {
    const queue = new RunQueue(one)
    runQuickly(queue, 40, 0)
    assert.equal(queue.room(0), 4)
  }
})

test('large messages are not gathered in memory', () => {
  const queue = new RunQueue(terms)
  runQuickly(queue, 400, 0)
  queue.add(claimed(1, 'x'.repeat(2 ** 20)), 0)
  queue.start(0).forEach(() => queue.ended(0, true))
  assert.equal(queue.room(0), 4 + 4)
})

test('what waits for its start for longer than a second is given back', () => {
  const queue = new RunQueue(terms)
  queue.add(claimed(10), 0)
  assert.equal(queue.start(0).length, 4)
  assert.deepEqual(queue.giveBack(900), [])
  assert.equal(queue.giveBack(1000).length, 6)
  assert.deepEqual(queue.giveBack(), [])
})
