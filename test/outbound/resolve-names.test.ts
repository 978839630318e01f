import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Lookup } from '../../src/outbound/resolve-names.ts'
import { makeResolver } from '../../src/outbound/resolve-names.ts'

/** A name server that responds when released. */
function makeNameServer() {
  const asked: string[] = []
  const answers = new Map<string, () => void>()
  const lookup: Lookup = (host, _options, done) => {
    asked.push(host)
    answers.set(host, () => done(null, [{ address: `at ${host}`, family: 4 }]))
  }
  return { asked, lookup, answer: (host: string) => answers.get(host)!() }
}

test('looks up two names at a time, and the next when one is resolved', async () => {
  const { asked, lookup, answer } = makeNameServer()
  const resolve = makeResolver(lookup)
  const found = ['a', 'b', 'c', 'd'].map((host) => resolve(host))
  assert.deepEqual(asked, ['a', 'b'])
  answer('b')
  assert.deepEqual(asked, ['a', 'b', 'c'])
  answer('c')
  answer('a')
  answer('d')
  assert.deepEqual(await Promise.all(found), [['at a'], ['at b'], ['at c'], ['at d']])
})

test('a lookup that never completes keeps its slot; waiting callers get a busy error', async () => {
  const { asked, lookup, answer } = makeNameServer()
  const resolve = makeResolver(lookup, { maxConcurrent: 1, maxQueued: 5, limitMs: 20 })
  const hung = resolve('hung')
  const waited = resolve('waited')
  await assert.rejects(hung, { code: 'WP_OUTBOUND_HOST_UNKNOWN' })
  await assert.rejects(waited, { code: 'WP_OUTBOUND_BUSY', status: 503 })
  answer('hung')
  const next = resolve('next')
  answer('next')
  assert.deepEqual(await next, ['at next'])
  assert.deepEqual(asked, ['hung', 'next'])
})

test('no more than so many wait', async () => {
  const { lookup, answer } = makeNameServer()
  const resolve = makeResolver(lookup, { maxConcurrent: 1, maxQueued: 2, limitMs: 60_000 })
  const all = ['a', 'b', 'c'].map((host) => resolve(host))
  await assert.rejects(resolve('d'), { code: 'WP_OUTBOUND_BUSY' })
  for (const host of ['a', 'b', 'c']) answer(host)
  assert.equal((await Promise.all(all)).length, 3)
})
