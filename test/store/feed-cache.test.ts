import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
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
  /** Reads of `read` that have not ended. */
  const under: PromiseWithResolvers<Known>[] = []
  let reads = 0
  const next = async () => {
    await settle()
    return under.shift() ?? assert.fail('nothing is being read')
  }
  /** Ends the oldest read. */
  const end = async (...about: string[]) => {
    const known = { text: 'a', about }
    ;(await next()).resolve(known)
    return known
  }
  /** Asks for a value; the read that this may begin goes on until it is ended. */
  const read = (text: string) => {
    const value = cache.load(text, () => {
      reads += 1
      const reading = Promise.withResolvers<Known>()
      under.push(reading)
      return reading.promise
    })
    value.catch(() => undefined)
    return { value, end: async (...about: string[]) => (await end(...about), value) }
  }
  const fail = (error: Error) => under.shift()!.reject(error)
  return { cache, feed, listeners, asked, put, tell, change, kept, read, end, fail, reads: () => reads }
}

/** Lets everything go on that waits for nothing. */
const settle = () => new Promise((resolve) => setImmediate(resolve))

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

test('keeps a value although something else changed while it was read', async () => {
  const { change, kept, read } = openCache()
  const reading = read('a')
  change('bob')
  assert.equal((await reading.end('ann', 'app')).text, 'a')
  assert.deepEqual(kept('a'), ['a'])
})

for (const [what, tell] of [
  ['one of its subjects changed', ({ change }) => change('bob', 'app')],
  ['the feed told of a change of a kind that clears the cache', (cache) => cache.tell([{ kind: 'key', subject: 'k' }])],
  ['the feed may have missed changes', (cache) => cache.tell('reset')],
  ['the cache was closed', ({ cache }) => cache.close()],
  [
    'more changed than is remembered',
    ({ change }) => change('ann', ...Array.from({ length: 10_000 }, (_, index) => `user ${index}`)),
  ],
] as [string, (cache: ReturnType<typeof openCache>) => void][]) {
  test(`does not keep a value when ${what} while it was read`, async () => {
    const opened = openCache()
    const reading = opened.read('a')
    tell(opened)
    assert.equal((await reading.end('ann', 'app')).text, 'a')
    assert.deepEqual(opened.kept('a'), [])
  })
}

test('does not keep what was read while the feed was not fresh', async () => {
  const { feed, put, kept } = openCache()
  feed.fresh = false
  await put('a', 'ann')
  feed.fresh = true
  assert.deepEqual(kept('a'), [])
})

test('reads a value once for all who wait for it', async () => {
  const { read, reads, change } = openCache()
  const [first, second, third] = [read('a'), read('a'), read('a')]
  change('bob')
  await first.end('ann')
  assert.equal((await second.value).text, 'a')
  assert.equal((await third.value).text, 'a')
  assert.equal(reads(), 1)
})

for (const [what, outdate] of [
  ['a subject of it changed', ({ change }) => change('ann')],
  ['the feed is not fresh', ({ feed }) => void (feed.fresh = false)],
] as [string, (cache: ReturnType<typeof openCache>) => void][]) {
  test(`reads again, once for all who came later, when ${what}`, async () => {
    const opened = openCache()
    const first = opened.read('a')
    outdate(opened)
    const later = [opened.read('a'), opened.read('a'), opened.read('a')]
    const old = await first.end('ann')
    const fresh = await opened.end('ann')
    assert.notEqual(fresh, old)
    for (const { value } of later) assert.equal(await value, fresh)
    assert.equal(opened.reads(), 2)
  })
}

test('a read that fails fails for its caller; who came later reads again', async () => {
  const { read, end, fail, reads } = openCache()
  const [first, second] = [read('a'), read('a')]
  fail(new Error('gone'))
  await assert.rejects(first.value, /gone/)
  await end('ann')
  assert.equal((await second.value).text, 'a')
  assert.equal(reads(), 2)
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

type Step =
  | { readonly what: 'commit'; readonly subject: string }
  | { readonly what: 'tell' | 'look' | 'end' | 'fail'; readonly which: number }
  | { readonly what: 'ask'; readonly key: string }
  | { readonly what: 'reset' }

/** A value, and how many commits the read saw. */
interface Seen {
  readonly about: readonly string[]
  readonly commits: number
}

interface Read {
  readonly key: string
  seen: Seen | undefined
  readonly ended: PromiseWithResolvers<Seen>
}

const subjectNames = ['ann', 'bob', 'app']
const steps = fc.array(
  fc.oneof<fc.Arbitrary<Step>[]>(
    fc.record({ what: fc.constant('commit'), subject: fc.constantFrom(...subjectNames) }),
    fc.record({ what: fc.constantFrom('tell', 'look', 'end', 'fail'), which: fc.nat(5) }),
    fc.record({ what: fc.constant('ask'), key: fc.constantFrom('a', 'b') }),
    fc.record({ what: fc.constant('reset') }),
  ),
  { maxLength: 60, size: 'max' },
)

test('no order of commits, news of them, reads and questions makes it give out what a known change has outdated', async () => {
  let given = 0
  await fc.assert(
    fc.asyncProperty(steps, async (order) => {
      const listeners = new Set<FeedListener>()
      const cache = makeFeedCache<Seen>({
        feed: {
          isFresh: () => true,
          listen: (listener) => (listeners.add(listener), () => listeners.delete(listener)),
        },
        limit: 100,
        subjectsOf: ({ about }) => about.map((subject): Change => ({ kind: 'user', subject })),
      })
      const commits: string[] = []
      let told = 0
      const reads: Read[] = []
      const asked: Promise<unknown>[] = []

      const tell = (count: number) => {
        const news = commits.slice(told, told + count)
        told += news.length
        for (const listener of listeners) listener(news.map((subject) => ({ kind: 'user', subject })))
      }
      /** What the database says now. A value depends on one subject always, and on another one as long as it says so. */
      const look = (read: Read) => {
        const own = read.key === 'a' ? 'ann' : 'bob'
        const other = subjectNames[commits.filter((subject) => subject === own).length % 3]!
        read.seen ??= { about: [own, other], commits: commits.length }
      }
      const end = (read: Read) => {
        look(read)
        reads.splice(reads.indexOf(read), 1)
        read.ended.resolve(read.seen!)
      }
      const assertCurrent = ({ about, commits: seen }: Seen, known: number) => {
        given += 1
        const outdated = commits.slice(seen, known).filter((subject) => about.includes(subject))
        assert.deepEqual(outdated, [], `was read after ${seen} commits, and ${known} were known`)
      }
      const ask = async (key: string) => {
        const known = told
        const value =
          cache.get(key) ??
          (await cache.load(key, () => {
            const read: Read = { key, seen: undefined, ended: Promise.withResolvers() }
            reads.push(read)
            return read.ended.promise
          }))
        assertCurrent(value, known)
      }
      for (const step of order) {
        const read = 'which' in step ? reads[step.which % (reads.length || 1)] : undefined
        if (step.what === 'commit') commits.push(step.subject)
        else if (step.what === 'tell') tell(step.which + 1)
        else if (step.what === 'ask') asked.push(ask(step.key).catch((error) => assert.equal(error, 'failed')))
        else if (step.what === 'reset') {
          told = commits.length
          for (const listener of listeners) listener('reset')
        } else if (step.what === 'look' && read !== undefined) look(read)
        else if (step.what === 'end' && read !== undefined) end(read)
        else if (step.what === 'fail' && read !== undefined) {
          reads.splice(reads.indexOf(read), 1)
          read.ended.reject('failed')
        }
        await settle()
        for (const key of ['a', 'b']) {
          const kept = cache.get(key)
          if (kept !== undefined) assertCurrent(kept, told)
        }
      }
      while (reads.length > 0) {
        end(reads[0]!)
        await settle()
      }
      await Promise.all(asked)
    }),
    { numRuns: 1000 },
  )
  assert.ok(given > 1000, 'hardly any value was given out')
})
