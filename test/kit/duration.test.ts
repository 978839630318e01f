import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatDuration, parseDuration, parseSize, suggestQuantity } from '../../src/kit/index.ts'

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

test('what people write for a size or a duration leads to its valid form', () => {
  const sizes = ['5 MB', '5MiB', '5M', '5_000kb', '12', '5mb', 'five', '5 parsecs', ''].map((text) =>
    suggestQuantity(text, parseSize),
  )
  assert.deepEqual(sizes, ['5mb', '5mb', '5mb', '5000kb', '12b', undefined, undefined, undefined, undefined])
  const durations = ['30 seconds', '1 Hour', '5min', '30s', 'soon'].map((text) => suggestQuantity(text, parseDuration))
  assert.deepEqual(durations, ['30s', '1h', '5m', undefined, undefined])
})
