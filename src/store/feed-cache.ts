import type { Change, ChangeKind } from './system.ts'
import type { Feed } from './feed.ts'

/** A cache of values from System. The change feed invalidates a value when something that it depends on changes. */
export interface FeedCache<Value> {
  /** Returns the value of a key. Undefined if it must be read, and while the feed is not fresh. */
  get(key: string): Value | undefined
  /**
   * Reads a value. Caches it unless the feed reports a change of one of its subjects after the read began. Missing
   * values are never cached. Concurrent callers for the same key share reads. A caller never receives the result of a
   * read that began before its call, unless `get` would return it too.
   */
  load<Read extends Value | undefined>(key: string, read: () => Promise<Read>): Promise<Read>
  delete(key: string): void
  close(): void
}

export interface FeedCacheOptions<Value> {
  readonly feed: Pick<Feed, 'isFresh' | 'listen'>
  /** The maximum number of values. The oldest is removed first. */
  readonly limit: number
  /** Returns what a value depends on, which must not change while it is cached. */
  subjectsOf(value: Value): readonly Change[]
  /** Kinds of changes that clear the whole cache. */
  readonly clearOn?: readonly ChangeKind[]
}

/** The maximum number of changed subjects that are remembered during reads. More count as a change of everything. */
const changesLimit = 10_000

/** A read in progress. */
interface PendingRead<Value> {
  /** Its position in the sequence of cache events. */
  readonly startedAt: number
  readonly value: Promise<Value | undefined>
}

/**
 * Makes a cache. A read sees everything that was committed before it began. The feed reports later commits only
 * afterwards. So a value is outdated only if a change of one of its subjects is reported during the read, which
 * `changed` records, or after the value was cached, which deletes it.
 */
export function makeFeedCache<Value>(options: FeedCacheOptions<Value>): FeedCache<Value> {
  const { feed, limit, clearOn = [], subjectsOf } = options
  const values = makeIndex(options)
  const pendingReads = new Map<string, PendingRead<Value>>()
  /** When each subject last changed, as far as a read in progress may have missed it. */
  const changed = new Map<string, number>()
  let allChanged = 0
  /** Numbers the cache events to determine their order. */
  let sequence = 0

  function clear(): void {
    values.clear()
    changed.clear()
    allChanged = ++sequence
  }

  const stopListening = feed.listen((changes) => {
    sequence += 1
    if (changes === 'reset' || changes.some(({ kind }) => clearOn.includes(kind))) return clear()
    for (const change of changes) {
      values.deleteBySubject(change)
      if (pendingReads.size > 0) changed.set(nameOf(change), sequence)
    }
    if (changed.size > changesLimit) clear()
  })

  function isOutdated(value: Value, startedAt: number): boolean {
    return (
      allChanged > startedAt || subjectsOf(value).some((subject) => (changed.get(nameOf(subject)) ?? 0) > startedAt)
    )
  }

  function get(key: string): Value | undefined {
    return feed.isFresh() ? values.get(key) : undefined
  }

  function startRead(key: string, read: () => Promise<Value | undefined>): PendingRead<Value> {
    const startedAt = ++sequence
    const wasFresh = feed.isFresh()
    const value = storeResult(key, read(), (found) => wasFresh && !isOutdated(found, startedAt))
    pendingReads.set(key, { startedAt, value })
    return { startedAt, value }
  }

  async function storeResult(key: string, read: Promise<Value | undefined>, shouldStore: (found: Value) => boolean) {
    try {
      const found = await read
      if (found !== undefined && shouldStore(found)) values.set(key, found, limit)
      return found
    } finally {
      pendingReads.delete(key)
      if (pendingReads.size === 0) changed.clear()
    }
  }

  return {
    get,
    async load<Read extends Value | undefined>(key: string, read: () => Promise<Read>): Promise<Read> {
      const asked = ++sequence
      // At most two iterations: the second read begins after this call.
      for (;;) {
        const { startedAt, value } = pendingReads.get(key) ?? startRead(key, read)
        if (startedAt > asked) return value as Promise<Read>
        await value.catch(() => undefined)
        const cached = get(key)
        if (cached !== undefined) return cached as Read
      }
    },
    delete: (key) => values.delete(key),
    close() {
      stopListening()
      clear()
    },
  }
}

/**
 * Finds values by key and by subject, so that a subject that changes often does not cause a search through the whole
 * cache.
 */
function makeIndex<Value>({ subjectsOf }: Pick<FeedCacheOptions<Value>, 'subjectsOf'>) {
  const values = new Map<string, Value>()
  const keysBySubject = new Map<string, Set<string>>()

  function remove(key: string): void {
    const value = values.get(key)
    if (value === undefined) return
    values.delete(key)
    for (const subject of subjectsOf(value)) {
      const name = nameOf(subject)
      const keys = keysBySubject.get(name)
      keys?.delete(key)
      if (keys?.size === 0) keysBySubject.delete(name)
    }
  }

  return {
    get: (key: string) => values.get(key),
    set(key: string, value: Value, limit: number): void {
      remove(key)
      if (values.size >= limit) remove(values.keys().next().value!)
      values.set(key, value)
      for (const subject of subjectsOf(value)) {
        const name = nameOf(subject)
        const keys = keysBySubject.get(name)
        if (keys === undefined) keysBySubject.set(name, new Set([key]))
        else keys.add(key)
      }
    },
    delete: remove,
    deleteBySubject(subject: Change): void {
      for (const key of keysBySubject.get(nameOf(subject)) ?? []) remove(key)
    },
    clear(): void {
      values.clear()
      keysBySubject.clear()
    },
  }
}

function nameOf({ kind, subject }: Change): string {
  return `${kind} ${subject}`
}
