import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fc } from '../support/property.ts'
import { makeFeedCache, type Change, type FeedCache, type FeedListener } from '../../src/store/index.ts'

interface Known {
  readonly text: string
  readonly about: readonly string[]
}

/** Opens a cache with a fake feed that counts reads. */
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
    feed,
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
  /** Pending calls of `read`. */
  const under: PromiseWithResolvers<Known>[] = []
  let reads = 0
  const next = async () => {
    await settle()
    return under.shift() ?? assert.fail('nothing is being read')
  }
  /** Completes the oldest read. */
  const end = async (...about: string[]) => {
    const known = { text: 'a', about }
    ;(await next()).resolve(known)
    return known
  }
  /** Loads a value. A read that this starts is pending until `end`. */
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

/** Lets all ready promises continue. */
const settle = () => new Promise((resolve) => setImmediate(resolve))

test('a cache drops entries that depend on a change, by any of its subjects, and no others', async () => {
  const { put, change, kept } = openCache()
  await Promise.all([put('a', 'ann', 'app'), put('b', 'bob', 'app'), put('c', 'cid')])
  change('ann')
  assert.deepEqual(kept('a', 'b', 'c'), ['b', 'c'])
  await put('a', 'ann', 'app')
  change('nobody', 'app')
  assert.deepEqual(kept('a', 'b', 'c'), ['c'])
})

test('a value that was read again depends on its new content', async () => {
  const { cache, put, change, kept } = openCache()
  await put('a', 'ann')
  await cache.load('a', async () => ({ text: 'another', about: ['bob'] }))
  change('ann')
  assert.equal(cache.get('a')?.text, 'another')
  change('bob')
  assert.deepEqual(kept('a'), [])
})

test('a full cache drops the oldest entry, which only another read restores', async () => {
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

test('a change inspects only dependent entries', async () => {
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

test('does not keep values that were read while the feed was stale', async () => {
  const { feed, put, kept } = openCache()
  feed.fresh = false
  await put('a', 'ann')
  feed.fresh = true
  assert.deepEqual(kept('a'), [])
})

test('reads a value once for all concurrent callers', async () => {
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
  test(`reads again, once for all later callers, when ${what}`, async () => {
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

test('a failed read fails for its caller; later callers read again', async () => {
  const { read, end, fail, reads } = openCache()
  const [first, second] = [read('a'), read('a')]
  fail(new Error('gone'))
  await assert.rejects(first.value, /gone/)
  await end('ann')
  assert.equal((await second.value).text, 'a')
  assert.equal(reads(), 2)
})

test('missing values are read again each time', async () => {
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

test('no entry is valid while the feed is stale, and cached entries are valid again when it recovers', async () => {
  const { feed, put, kept } = openCache()
  await put('a', 'ann')
  feed.fresh = false
  assert.deepEqual(kept('a'), [])
  feed.fresh = true
  assert.deepEqual(kept('a'), ['a'])
})

test('a reset, a change that invalidates everything, and closing clear the cache', async () => {
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
const keys = ['a', 'b']
const steps = fc.array(
  fc.oneof<fc.Arbitrary<Step>[]>(
    fc.record({ what: fc.constant('commit'), subject: fc.constantFrom(...subjectNames) }),
    fc.record({ what: fc.constantFrom('tell', 'look', 'end', 'fail'), which: fc.nat(5) }),
    fc.record({ what: fc.constant('ask'), key: fc.constantFrom(...keys) }),
    fc.record({ what: fc.constant('reset') }),
  ),
  { maxLength: 60, size: 'max' },
)

/** A database, its feed and a cache, which run step by step in a given order. */
class CacheWorld {
  /** The number of returned values. */
  given = 0
  readonly #commits: string[] = []
  #told = 0
  readonly #listeners = new Set<FeedListener>()
  readonly #reads: Read[] = []
  readonly #asked: Promise<unknown>[] = []
  readonly #cache = makeFeedCache<Seen>({
    feed: {
      isFresh: () => true,
      listen: (listener) => (this.#listeners.add(listener), () => this.#listeners.delete(listener)),
    },
    limit: 100,
    subjectsOf: ({ about }) => about.map((subject): Change => ({ kind: 'user', subject })),
  })

  async take(step: Step): Promise<void> {
    if (step.what === 'commit') this.#commits.push(step.subject)
    else if (step.what === 'ask') this.#asked.push(this.#ask(step.key).catch((error) => assert.equal(error, 'failed')))
    else if (step.what === 'reset') this.#tell('reset')
    else if (step.what === 'tell') this.#tell(step.which + 1)
    else this.#goOn(step)
    await settle()
    for (const kept of keys.flatMap((key) => this.#cache.get(key) ?? [])) this.#assertCurrent(kept, this.#told)
  }

  async end(): Promise<void> {
    while (this.#reads.length > 0) await this.take({ what: 'end', which: 0 })
    await Promise.all(this.#asked)
  }

  #tell(news: number | 'reset'): void {
    const changes = this.#commits.slice(this.#told, news === 'reset' ? undefined : this.#told + news)
    this.#told += changes.length
    const told = news === 'reset' ? news : changes.map((subject): Change => ({ kind: 'user', subject }))
    for (const listener of this.#listeners) listener(told)
  }

  #goOn({ what, which }: Extract<Step, { which: number }>): void {
    const index = which % (this.#reads.length || 1)
    const read = this.#reads[index]
    if (read === undefined) return
    if (what === 'look') return this.#look(read)
    this.#reads.splice(index, 1)
    if (what === 'fail') return read.ended.reject('failed')
    this.#look(read)
    read.ended.resolve(read.seen!)
  }

  /**
   * The current state of the database. A value always depends on one subject, and on another while the first one says
   * so.
   */
  #look(read: Read): void {
    const own = read.key === 'a' ? 'ann' : 'bob'
    const other = subjectNames[this.#commits.filter((subject) => subject === own).length % 3]!
    read.seen ??= { about: [own, other], commits: this.#commits.length }
  }

  async #ask(key: string): Promise<void> {
    const known = this.#told
    const read = () => {
      const one: Read = { key, seen: undefined, ended: Promise.withResolvers() }
      this.#reads.push(one)
      return one.ended.promise
    }
    this.#assertCurrent(this.#cache.get(key) ?? (await this.#cache.load(key, read)), known)
  }

  #assertCurrent({ about, commits: seen }: Seen, known: number): void {
    this.given += 1
    const outdated = this.#commits.slice(seen, known).filter((subject) => about.includes(subject))
    assert.deepEqual(outdated, [], `was read after ${seen} commits, and ${known} were known`)
  }
}

test('no order of commits, notifications, reads and lookups returns a value that a known change has outdated', async () => {
  let given = 0
  const property = fc.asyncProperty(steps, async (order) => {
    const world = new CacheWorld()
    for (const step of order) await world.take(step)
    await world.end()
    given += world.given
  })
  await fc.assert(property, { numRuns: 1000 })
  assert.ok(given > 1000, 'hardly any value was given out')
})
