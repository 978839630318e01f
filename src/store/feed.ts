import type { QueryConfig } from 'pg'
import { systemClock, type Clock } from '../kit/index.ts'
import type { Change, ChangeKind } from './changes.ts'
import type { System } from './system.ts'
import type { PostgresDatabase } from './sql/postgres-dialect.ts'
import type { SqliteDatabase } from './sql/sqlite-dialect.ts'

/** Called with what changed, in order; `reset` when changes may have been missed and nothing cached counts. */
export type FeedListener = (changes: readonly Change[] | 'reset') => void

/** One process's view of the change feed. */
export interface Feed {
  /** The last position seen. */
  position(): number
  /** Whether the last successful poll began less than a second ago, by the monotonic clock. */
  isFresh(): boolean
  /** Reads the feed now; afterwards everything that was committed before the call has reached the listeners. */
  catchUp(): Promise<void>
  /** @returns the way to stop listening */
  listen(listener: FeedListener): () => void
  close(): Promise<void>
}

export interface StartFeedOptions {
  readonly clock?: Clock
  readonly onError?: (error: unknown) => void
}

const trustedMs = 1000
const postgresPollMs = 250
const sqlitePollMs = 20
const batch = 1000
const queryTimeoutMs = 1000

interface Read {
  readonly head: number
  readonly changes: readonly (Change & { position: number })[]
}

interface Row {
  readonly head: string
  readonly position: string | null
  readonly kind: ChangeKind
  readonly subject: string
}

/** How the feed is read on one kind of database. */
interface Source {
  /** Whether anything may have changed since the last read; cheap. */
  mayHaveChanged(): boolean
  read(after: number): Promise<Read>
  readonly pollMs: number
  close(): Promise<void>
}

/** Starts to follow the change feed; resolves when the first poll has succeeded. */
export async function startFeed(system: System, options: StartFeedOptions = {}): Promise<Feed> {
  const clock = options.clock ?? systemClock
  const listeners = new Set<FeedListener>()
  let position = 0
  let lastBegan = -Infinity
  let running: Promise<void> | undefined
  let again: Promise<void> | undefined
  const wake = () => void catchUp().catch((error: unknown) => options.onError?.(error))
  const source = system.kind === 'sqlite' ? sqliteSource(system) : postgresSource(system, wake)

  async function poll(): Promise<void> {
    const began = clock.monotonic()
    for (;;) {
      const { head, changes } = await source.read(position)
      const reset = head < position || (head > position && changes[0]?.position !== position + 1)
      position = reset ? head : (changes.at(-1)?.position ?? position)
      if (reset) for (const listener of listeners) listener('reset')
      else if (changes.length > 0) for (const listener of listeners) listener(changes)
      if (position >= head) break
    }
    lastBegan = began
  }

  // A poll under way may have read before the caller's commit: what is asked for meanwhile is a second one, shared by all who ask.
  function catchUp(): Promise<void> {
    if (running === undefined) {
      running = poll().finally(() => (running = undefined))
      return running
    }
    again ??= running
      .catch(() => undefined)
      .then(() => {
        again = undefined
        return catchUp()
      })
    return again
  }

  const { head } = await source.read(Number.MAX_SAFE_INTEGER)
  position = head
  lastBegan = clock.monotonic()
  const timer = setInterval(() => {
    const began = clock.monotonic()
    try {
      if (source.mayHaveChanged()) wake()
      else lastBegan = began
    } catch (error) {
      options.onError?.(error)
    }
  }, source.pollMs)
  timer.unref()

  return {
    position: () => position,
    isFresh: () => clock.monotonic() - lastBegan < trustedMs,
    catchUp,
    listen(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    async close() {
      clearInterval(timer)
      listeners.clear()
      await running?.catch(() => undefined)
      await source.close()
    },
  }
}

/** `PRAGMA data_version` tells for a microsecond whether another handle committed anything. */
function sqliteSource(system: System): Source {
  const handle = (system.database as SqliteDatabase).openHandle(true)
  const version = handle.prepare('pragma data_version')
  let seen: unknown
  return {
    pollMs: sqlitePollMs,
    mayHaveChanged: () => version.get()?.['data_version'] !== seen,
    async read(after) {
      const before = version.get()?.['data_version']
      const head = handle.prepare('select position from waypost_feed_head').get()?.['position'] as number
      const changes = handle
        .prepare('select position, kind, subject from waypost_feed where position > ? order by position limit ?')
        .all(after, batch)
      seen = before
      return { head, changes: changes as never }
    },
    async close() {
      handle.close()
    },
  }
}

/** A client outside every pool, so that an application that uses up its pool does not make the server blind. */
function postgresSource(system: System, wake: () => void): Source {
  const database = system.database as PostgresDatabase
  type Client = Awaited<ReturnType<PostgresDatabase['openClient']>>
  let client: Promise<Client> | undefined

  function connect(): Promise<Client> {
    client ??= database.openClient().then(async (opened) => {
      const forget = () => (client = undefined)
      opened.on('error', forget)
      opened.on('end', forget)
      opened.on('notification', wake)
      await opened.query('listen waypost_feed')
      return opened
    })
    client.catch(() => (client = undefined))
    return client
  }

  return {
    pollMs: postgresPollMs,
    mayHaveChanged: () => true,
    async read(after) {
      const { rows } = await (await connect()).query<Row>({
        text: `select h.position as head, f.position, f.kind, f.subject from waypost_feed_head h
         left join (select position, kind, subject from waypost_feed where position > $1 order by position limit ${batch}) f on true
         order by f.position`,
        values: [after],
        query_timeout: queryTimeoutMs,
      } as QueryConfig)
      return {
        head: Number(rows[0]!.head),
        changes: rows.flatMap((row) =>
          row.position === null ? [] : [{ position: Number(row.position), kind: row.kind, subject: row.subject }],
        ),
      }
    },
    async close() {
      await (await client?.catch(() => undefined))?.end()
    },
  }
}
