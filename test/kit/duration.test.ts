import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatDuration } from '../../src/kit/index.ts'

test('a wait is written in the largest sufficient unit', () => {
  const waits = [1, 40, 119, 120, 121, 894, 7199, 7200, 86_400, 172_800].map((seconds) =>
    formatDuration(seconds * 1000),
  )
  const expected = [
    '1 s',
    '40 s',
    '119 s',
    '2 minutes',
    '3 minutes',
    '15 minutes',
    '120 minutes',
    '2 hours',
    '24 hours',
    '2 days',
  ]
  assert.deepEqual(waits, expected)
})
