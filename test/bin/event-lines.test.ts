import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatDelivered, formatFailedAttempt, formatRan } from '../../bin/cli/event-lines.ts'
import { formatWait } from '../../bin/cli/format.ts'

const attempt: Parameters<typeof formatDelivered>[0] = {
  delivery: 'dlv_1',
  event: 'todo_created',
  endpoint: 'http://ann:pw@localhost:4000/hook?token=abc',
  outcome: 'delivered',
  attempt: 1,
  result: { status: 204, latencyMs: 6 },
  delayMs: 0,
}
const retrying = { ...attempt, outcome: 'retrying', result: { failure: 'timeout 15 s', latencyMs: 15_000 } } as const
const dead = { ...attempt, outcome: 'dead', attempt: 4, result: { status: 404, latencyMs: 12 } } as const
const to = 'todo_created → http://…@localhost:4000/hook?token=…'

test('a delivery in the log of dev shows event, endpoint, response and time, and what follows a failure', () => {
  assert.equal(formatDelivered(attempt), `event  ✓ ${to}   204   6.0 ms`)
  const [start, next] = formatDelivered(retrying).split('   again ')
  assert.equal(start, `event  ✗ ${to}   timeout 15 s   15000 ms`)
  assert.match(next!, /^\d\d:\d\d:\d\d \(attempt 2 of 4\)$/)
  assert.equal(formatDelivered(dead), `event  ✗ ${to}   404   12 ms   dead: npx waypost event:replay dlv_1`)
})

const run: Parameters<typeof formatRan>[0] = {
  run: 'run_1',
  listener: 'bill',
  event: 'order_paid',
  attempt: 1,
  verdict: 'done',
  latencyMs: 12,
  delayMs: 0,
  reason: undefined,
}

test('a run of a listener in the log of dev shows how it ended, and what follows', () => {
  assert.equal(formatRan(run), 'run    ✓ bill   12 ms')
  assert.equal(
    formatRan({ ...run, verdict: 'discarded', reason: 'no\u001B[2J' }),
    'run    - bill   discarded   no [2J   12 ms',
  )
  assert.equal(formatRan({ ...run, verdict: 'postponed' }), 'run    - bill   postponed   12 ms')
  const failed = { ...run, reason: 'no bank\nat src/bill.ts:3:11' }
  assert.match(
    formatRan({ ...failed, verdict: 'retrying', delayMs: 60_000 }),
    /^run {4}✗ bill {3}no bank {3}12 ms {3}again \d\d:\d\d:\d\d \(attempt 2\)$/,
  )
  assert.equal(
    formatRan({ ...failed, verdict: 'dead' }),
    'run    ✗ bill   no bank   12 ms   dead: npx waypost event:replay run_1',
  )
  assert.equal(formatRan({ ...failed, verdict: 'lost' }), 'run    ✗ bill   no bank   12 ms   again, without counting')
})

test('a failure printed by event:execute shows when the next attempt is, or how to replay it', () => {
  assert.match(
    formatFailedAttempt(retrying),
    /^retrying {2}todo_created → \S+ {3}timeout 15 s {3}next \d\d:\d\d:\d\d \(attempt 2 of 4\)$/,
  )
  assert.equal(formatFailedAttempt(dead), `dead      ${to}   404   waypost event:replay dlv_1`)
})

test('no input of a subscriber moves the cursor', () => {
  const hostile = { ...dead, result: { failure: 'no\u001B[2J\r\nway', latencyMs: 0 } }
  assert.match(formatFailedAttempt(hostile), / {3}no \[2J {2}way {3}/)
})

test('the time until something is not shorter a moment later', () => {
  const [minute, hour, day] = [60_000, 3_600_000, 86_400_000]
  const times = [45_000, 119_000, 2 * minute, 4 * hour - 10_000, 3.5 * hour, 2 * day - 1000, 100 * day, 0]
  const texts = ['in 45 s', 'in 2 min', 'in 2 min', 'in 4 h', 'in 3 h', 'in 2 days', 'in 100 days', 'in 0 s']
  assert.deepEqual(times.map(formatWait), texts)
})
