import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeFeedCache, type Change, type Feed, type FeedCache, type FeedListener } from '../../src/store/index.ts'

interface Known {
  readonly text: string
  readonly about: readonly string[]
}

/** A cache under a feed of the test's own, which counts how often it is asked what values depend on. */
function openCache(limit = 100) {
  const listeners = new Set<FeedListener>()
  const feed = {
    fresh: true,
    isFresh: () => feed.fresh,
    listen(listener: FeedListener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
  const asked = { count: 0 }
  const cache: FeedCache<Known> = makeFeedCache({
    feed: feed as unknown as Feed,
    limit,
    clearOn: ['key'],
    subjectsOf({ about }) {
      asked.count++
      return about.map((subject): Change => ({ kind: 'user', subject }))
    },
  })
  const put = (text: string, ...about: string[]) => cache.load(text, async () => ({ text, about }))
  const tell = (news: Parameters<FeedListener>[0]) => listeners.forEach((listener) => listener(news))
  const change = (...subjects: string[]) => tell(subjects.map((subject) => ({ kind: 'user', subject })))
  const kept = (...texts: string[]) => texts.filter((text) => cache.get(text) !== undefined)
  return { cache, feed, listeners, asked, put, tell, change, kept }
}

test('a cache forgets what depends on a change, whichever of its subjects that is, and nothing else', async () => {
  const { put, change, kept } = openCache()
  await Promise.all([put('a', 'ann', 'app'), put('b', 'bob', 'app'), put('c', 'cid')])
  change('ann')
  assert.deepEqual(kept('a', 'b', 'c'), ['b', 'c'])
  await put('a', 'ann', 'app')
  change('nobody', 'app')
  assert.deepEqual(kept('a', 'b', 'c'), ['c'])
})

test('a value that was read anew depends on what it says now', async () => {
  const { cache, put, change, kept } = openCache()
  await put('a', 'ann')
  await cache.load('a', async () => ({ text: 'another', about: ['bob'] }))
  change('ann')
  assert.equal(cache.get('a')?.text, 'another')
  change('bob')
  assert.deepEqual(kept('a'), [])
})

test('a full cache forgets the oldest, and what is deleted comes back by reading alone', async () => {
  const { cache, put, change, kept } = openCache(3)
  for (const text of ['a', 'b', 'c', 'd']) await put(text, text, 'all')
  assert.deepEqual(kept('a', 'b', 'c', 'd'), ['b', 'c', 'd'])
  cache.delete('b')
  cache.delete('nothing')
  await put('e', 'e', 'all')
  assert.deepEqual(kept('a', 'b', 'c', 'd', 'e'), ['c', 'd', 'e'])
  change('all')
  assert.deepEqual(kept('c', 'd', 'e'), [])
})

test('a change looks at nothing but what depends on it', async () => {
  const { asked, put, change } = openCache(1000)
  for (let index = 0; index < 1000; index++) await put(`${index}`, `user ${index}`)
  asked.count = 0
  change('somebody else')
  assert.equal(asked.count, 0)
  change('user 7')
  assert.equal(asked.count, 1)
})

test('nothing is kept that was read while something changed, or while nobody could tell', async () => {
  const { cache, feed, put, change, kept } = openCache()
  const gate = Promise.withResolvers<Known>()
  const reading = cache.load('a', () => gate.promise)
  change('somebody else')
  gate.resolve({ text: 'a', about: ['ann'] })
  assert.equal((await reading).text, 'a')
  feed.fresh = false
  await put('b', 'bob')
  feed.fresh = true
  assert.deepEqual(kept('a', 'b'), [])
})

test('what is not there is read again each time', async () => {
  const { cache } = openCache()
  let reads = 0
  const read = async () => {
    reads++
    return undefined
  }
  assert.equal(await cache.load('a', read), undefined)
  await cache.load('a', read)
  assert.equal(reads, 2)
})

test('nothing counts while nobody can tell, and what is known counts again when somebody can', async () => {
  const { feed, put, kept } = openCache()
  await put('a', 'ann')
  feed.fresh = false
  assert.deepEqual(kept('a'), [])
  feed.fresh = true
  assert.deepEqual(kept('a'), ['a'])
})

test('a reset, a change of a kind that nothing outlasts, and closing forget everything', async () => {
  const { cache, listeners, put, tell, kept } = openCache()
  await put('a', 'ann')
  tell('reset')
  assert.deepEqual(kept('a'), [])
  await put('a', 'ann')
  tell([{ kind: 'key', subject: 'any' }])
  assert.deepEqual(kept('a'), [])
  await put('a', 'ann')
  cache.close()
  assert.deepEqual([kept('a'), listeners.size], [[], 0])
})
