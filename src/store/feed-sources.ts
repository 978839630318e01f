import type { Client, QueryConfig } from 'pg'
import type { Change, ChangeKind } from './changes.ts'
import type { System } from './system.ts'
import type { PostgresDatabase } from './sql/postgres-dialect.ts'
import type { SqliteDatabase } from './sql/sqlite-dialect.ts'

/** A change where it stands; `mark` tells it from another one that stood at the same position in another history. */
export type PositionedChange = Change & { readonly position: number; readonly mark: string }

/** One look at the change feed. */
export interface FeedRead {
  /** The last position that was given out. */
  readonly head: number
  /** What stands at the position that was asked for; undefined where nothing does, or not any more. */
  readonly here: PositionedChange | undefined
  /** What stands behind it, in order, a batch at most. */
  readonly changes: readonly PositionedChange[]
  /** The first look through a new connection: who knows which database answers now. */
  readonly isReconnected: boolean
}

/** How the feed is read on one kind of database. */
export interface FeedSource {
  readonly pollMs: number
  /** Whether anything may have changed since the last read that reached the head; cheap. */
  mayHaveChanged(): boolean
  read(after: number): Promise<FeedRead>
  close(): Promise<void>
}

const batch = 1000
const postgresPollMs = 250
const sqlitePollMs = 20
const queryTimeoutMs = 1000
const endLimitMs = 1000

interface Row {
  readonly head: number | string
  readonly position: number | string | null
  readonly kind: ChangeKind
  readonly subject: string
  readonly created_at: number | string
}

/** One statement, so that head and changes are of the same moment. */
function readSql(parameter: string): string {
  return `select h.position as head, f.position, f.kind, f.subject, f.created_at from waypost_feed_head h
    left join (select * from waypost_feed where position >= ${parameter} order by position limit ${batch + 1}) f
      on f.position <= h.position
    order by f.position`
}

function readRows(rows: readonly Row[], after: number): Omit<FeedRead, 'isReconnected'> {
  const found = rows.flatMap(({ position, kind, subject, created_at }) =>
    position === null ? [] : [{ position: Number(position), kind, subject, mark: `${kind} ${subject} ${created_at}` }],
  )
  const here = found[0]?.position === after ? found[0] : undefined
  return { head: Number(rows[0]!.head), here, changes: here === undefined ? found : found.slice(1) }
}

/** @param wake called when PostgreSQL says that something changed, before the next poll is due */
export function openFeedSource(system: System, wake: () => void): FeedSource {
  return system.kind === 'sqlite'
    ? openSqliteSource(system.database as SqliteDatabase)
    : openPostgresSource(system.database as PostgresDatabase, wake)
}

/** `PRAGMA data_version` tells for a microsecond whether another handle committed anything. */
function openSqliteSource(database: SqliteDatabase): FeedSource {
  const handle = database.openHandle(true)
  const version = handle.prepare('pragma data_version')
  const query = readSql('?')
  let seen: unknown
  return {
    pollMs: sqlitePollMs,
    mayHaveChanged: () => version.get()?.['data_version'] !== seen,
    async read(after) {
      const before = version.get()?.['data_version']
      const rows = handle.prepare(query).all(after) as never as readonly Row[]
      const read = { ...readRows(rows, after), isReconnected: false }
      if ((read.changes.at(-1)?.position ?? after) >= read.head) seen = before // else there is more, whoever else commits
      return read
    },
    async close() {
      handle.close()
    },
  }
}

/** A client outside every pool, so that an application that uses up its pool does not make the server blind. */
function openPostgresSource(database: PostgresDatabase, wake: () => void): FeedSource {
  let current: Promise<Client> | undefined

  async function connect(): Promise<Client> {
    const client = await database.openClient()
    try {
      if (await hasSession(client)) {
        client.on('notification', wake)
        await client.query(limited('listen waypost_feed'))
      }
      return client
    } catch (error) {
      await endClient(client)
      throw error
    }
  }

  return {
    pollMs: postgresPollMs,
    mayHaveChanged: () => true,
    async read(after) {
      const isReconnected = current === undefined
      const connecting = (current ??= connect())
      try {
        const client = await connecting
        const { rows } = await client.query<Row>({ ...limited(readSql('$1')), values: [after] })
        return { ...readRows(rows, after), isReconnected }
      } catch (error) {
        // A connection that failed once may be half open: nothing would ever answer on it again.
        current = undefined
        await connecting.then(endClient, () => undefined)
        throw error
      }
    },
    async close() {
      await current?.then(endClient, () => undefined)
    },
  }
}

/**
 * Whether the session is the client's own. A pooler gives out numbers of its own; in transaction mode it would leave what
 * is listened for to whoever gets the session next, and drops connections on which something comes that nobody asked for.
 */
async function hasSession(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ pid: number }>(limited('select pg_backend_pid() as pid'))
  return rows[0]?.pid === (client as { processID?: number }).processID
}

function limited(text: string): QueryConfig {
  return { text, query_timeout: queryTimeoutMs } as QueryConfig // which pg knows and its types do not
}

/** Ends a client; one whose other side does not answer is cut off. */
async function endClient(client: Client): Promise<void> {
  const cut = setTimeout(() => client.connection.stream.destroy(), endLimitMs)
  await client.end().catch(() => undefined)
  clearTimeout(cut)
}
