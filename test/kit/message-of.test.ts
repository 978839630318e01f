import assert from 'node:assert/strict'
import { test } from 'node:test'
import { messageOf } from '../../src/kit/index.ts'

test('an error of fetch is reported with its cause', async () => {
  const failure = await fetch('http://127.0.0.1:1/').catch((error: unknown) => error)
  assert.match(messageOf(failure), /^fetch failed: .+/)
  const several = new AggregateError([new Error('a'), new Error('b')])
  const refused = Object.assign(several, { code: 'ECONNREFUSED' })
  assert.equal(messageOf(new TypeError('fetch failed', { cause: refused })), 'fetch failed: ECONNREFUSED')
  assert.equal(messageOf(new Error('other', { cause: new Error('hidden') })), 'other')
})
