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
  /** What a value depends on. */
  subjectsOf(value: Value): readonly Change[]
  /** Kinds of changes that nothing outlasts. */
  readonly clearOn?: readonly ChangeKind[]
}

export function makeFeedCache<Value>(options: FeedCacheOptions<Value>): FeedCache<Value> {
  const { feed, limit, clearOn = [] } = options
  const values = new Map<string, Value>()
  let epoch = 0

  const close = feed.listen((changes) => {
    epoch += 1
    if (changes === 'reset' || changes.some(({ kind }) => clearOn.includes(kind))) return values.clear()
    const touched = new Set(changes.map(nameOf))
    for (const [key, value] of values) {
      if (options.subjectsOf(value).some((subject) => touched.has(nameOf(subject)))) values.delete(key)
    }
  })

  return {
    get: (key) => (feed.isFresh() ? values.get(key) : undefined),
    async load(key, read) {
      const epochBefore = epoch
      const wasFresh = feed.isFresh()
      const value = await read()
      if (value === undefined || !wasFresh || epoch !== epochBefore) return value
      if (values.size >= limit) values.delete(values.keys().next().value!)
      values.set(key, value)
      return value
    },
    delete: (key) => void values.delete(key),
    close() {
      close()
      values.clear()
    },
  }
}

function nameOf({ kind, subject }: Change): string {
  return `${kind} ${subject}`
}
