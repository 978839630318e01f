import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseSince } from '../../src/kit/index.ts'

test('a moment of the past is how long ago it was, or an ISO time', () => {
  assert.deepEqual(parseSince('24h'), { agoMs: 86_400_000 })
  assert.deepEqual(parseSince('1d12h'), { agoMs: 129_600_000 })
  assert.deepEqual(parseSince('2026-11-20'), { atMs: Date.UTC(2026, 10, 20) })
  assert.deepEqual(parseSince('2026-11-20T14:00:00Z'), { atMs: Date.UTC(2026, 10, 20, 14) })
  assert.deepEqual(parseSince('2026-11-20 14:00:00.5+02:00'), { atMs: Date.UTC(2026, 10, 20, 12, 0, 0, 500) })
  assert.deepEqual(parseSince('2026-11-20T14:00'), { atMs: new Date(2026, 10, 20, 14).getTime() })
})

test('other texts are invalid', () => {
  for (const text of ['', '24', 'yesterday', '2026', '2026-13-01', '20 Nov 2026', '-1h', '2026-11-20T25:00Z']) {
    assert.equal(parseSince(text), undefined, text)
  }
})
