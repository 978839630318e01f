import type { Change, ChangeKind } from './changes.ts'
import type { Feed } from './feed.ts'

/** Values that were read from System, each of which counts until the feed says that something it depends on changed. */
export interface FeedCache<Value> {
  /** What is known under a key; undefined while it has to be read, and always while the feed is not fresh. */
  get(key: string): Value | undefined
  /** Reads a value; it is kept unless anything changed since before the read began. What is not there is never kept. */
  load<Read extends Value | undefined>(key: string, read: () => Promise<Read>): Promise<Read>
  delete(key: string): void
  close(): void
}

export interface FeedCacheOptions<Value> {
  readonly feed: Feed
  /** Values at most; the oldest goes first. */
  readonly limit: number
  /** What a value depends on; the same for as long as it is kept. */
  subjectsOf(value: Value): readonly Change[]
  /** Kinds of changes that nothing outlasts. */
  readonly clearOn?: readonly ChangeKind[]
}

export function makeFeedCache<Value>(options: FeedCacheOptions<Value>): FeedCache<Value> {
  const { feed, limit, clearOn = [] } = options
  const values = makeIndex(options)
  let epoch = 0

  const close = feed.listen((changes) => {
    epoch += 1
    if (changes === 'reset' || changes.some(({ kind }) => clearOn.includes(kind))) return values.clear()
    for (const change of changes) values.deleteAbout(change)
  })

  return {
    get: (key) => (feed.isFresh() ? values.get(key) : undefined),
    async load(key, read) {
      const epochBefore = epoch
      const wasFresh = feed.isFresh()
      const value = await read()
      if (value === undefined || !wasFresh || epoch !== epochBefore) return value
      values.set(key, value, limit)
      return value
    },
    delete: (key) => values.delete(key),
    close() {
      close()
      values.clear()
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
