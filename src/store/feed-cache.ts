import type { Change, ChangeKind } from './changes.ts'
import type { Feed } from './feed.ts'

/** Values that were read from System, each of which counts until the feed says that something it depends on changed. */
export interface FeedCache<Value> {
  /** The value under a key; undefined while it has to be read, and always while the feed is not fresh. */
  get(key: string): Value | undefined
  /**
   * Reads a value. It is kept unless the feed told of a change of one of its subjects since before the read began; a
   * missing value is never kept. Callers that want the same key at the same time share reads, and none of them gets what
   * a read found that began before it asked, unless `get` would return it too.
   */
  load<Read extends Value | undefined>(key: string, read: () => Promise<Read>): Promise<Read>
  delete(key: string): void
  close(): void
}

export interface FeedCacheOptions<Value> {
  readonly feed: Pick<Feed, 'isFresh' | 'listen'>
  /** Values at most; the oldest goes first. */
  readonly limit: number
  /** What a value depends on; the same for as long as it is kept. */
  subjectsOf(value: Value): readonly Change[]
  /** Kinds of changes that nothing outlasts. */
  readonly clearOn?: readonly ChangeKind[]
}

/** Changed subjects that are remembered at most while values are read; more of them count as a change of everything. */
const changesLimit = 10_000

/** A read under way. */
interface Reading<Value> {
  /** Its place among everything that happens to the cache. */
  readonly began: number
  readonly value: Promise<Value | undefined>
}

/**
 * Makes a cache. A read sees everything that was committed before it began, and the feed tells of everything that is
 * committed later only after that: so a value is outdated only if a change of one of its subjects is told while it is
 * read, which `changed` shows, or after it was kept, which deletes it.
 */
export function makeFeedCache<Value>(options: FeedCacheOptions<Value>): FeedCache<Value> {
  const { feed, limit, clearOn = [], subjectsOf } = options
  const values = makeIndex(options)
  const readings = new Map<string, Reading<Value>>()
  /** When each subject last changed, as far as a read under way may have missed it. */
  const changed = new Map<string, number>()
  let allChanged = 0
  /** Counts what happens, so that one can tell what came before what. */
  let moment = 0

  function clear(): void {
    values.clear()
    changed.clear()
    allChanged = ++moment
  }

  const stopListening = feed.listen((changes) => {
    moment += 1
    if (changes === 'reset' || changes.some(({ kind }) => clearOn.includes(kind))) return clear()
    for (const change of changes) {
      values.deleteAbout(change)
      if (readings.size > 0) changed.set(nameOf(change), moment)
    }
    if (changed.size > changesLimit) clear()
  })

  function isOutdated(value: Value, began: number): boolean {
    return allChanged > began || subjectsOf(value).some((subject) => (changed.get(nameOf(subject)) ?? 0) > began)
  }

  function get(key: string): Value | undefined {
    return feed.isFresh() ? values.get(key) : undefined
  }

  function begin(key: string, read: () => Promise<Value | undefined>): Reading<Value> {
    const began = ++moment
    const wasFresh = feed.isFresh()
    const value = keep(key, read(), (found) => wasFresh && !isOutdated(found, began))
    readings.set(key, { began, value })
    return { began, value }
  }

  async function keep(key: string, read: Promise<Value | undefined>, isToKeep: (found: Value) => boolean) {
    try {
      const found = await read
      if (found !== undefined && isToKeep(found)) values.set(key, found, limit)
      return found
    } finally {
      readings.delete(key)
      if (readings.size === 0) changed.clear()
    }
  }

  return {
    get,
    async load<Read extends Value | undefined>(key: string, read: () => Promise<Read>): Promise<Read> {
      const asked = ++moment
      // At most twice: the next read begins after the caller asked.
      for (;;) {
        const { began, value } = readings.get(key) ?? begin(key, read)
        if (began > asked) return value as Promise<Read>
        await value.catch(() => undefined)
        const kept = get(key)
        if (kept !== undefined) return kept as Read
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
 * Values that are found by their key, and by what they depend on: whoever changes something often must not keep every
 * server busy with looking through all that it knows.
 */
function makeIndex<Value>({ subjectsOf }: Pick<FeedCacheOptions<Value>, 'subjectsOf'>) {
  const values = new Map<string, Value>()
  const keysAbout = new Map<string, Set<string>>()

  function remove(key: string): void {
    const value = values.get(key)
    if (value === undefined) return
    values.delete(key)
    for (const subject of subjectsOf(value)) {
      const name = nameOf(subject)
      const keys = keysAbout.get(name)
      keys?.delete(key)
      if (keys?.size === 0) keysAbout.delete(name)
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
        const keys = keysAbout.get(name)
        if (keys === undefined) keysAbout.set(name, new Set([key]))
        else keys.add(key)
      }
    },
    delete: remove,
    deleteAbout(subject: Change): void {
      for (const key of keysAbout.get(nameOf(subject)) ?? []) remove(key)
    },
    clear(): void {
      values.clear()
      keysAbout.clear()
    },
  }
}

function nameOf({ kind, subject }: Change): string {
  return `${kind} ${subject}`
}
