import type { Client, QueryConfig } from 'pg'
import type { Change, ChangeKind, System } from './system.ts'
import { errors } from './sql/errors.ts'
import type { PostgresDatabase } from './sql/postgres-dialect.ts'
import type { SqliteDatabase } from './sql/sqlite-dialect.ts'

/**
 * A change with its position. `mark` distinguishes it from another change at the same position in a different history.
 */
export type PositionedChange = Change & { readonly position: number; readonly mark: string }

/** The result of reading the change feed. */
export interface FeedRead {
  /** The last assigned position. */
  readonly head: number
  /** The change at the requested position; undefined if there is none or it was pruned. */
  readonly atPosition: PositionedChange | undefined
  /** The changes after it, in order; one batch at most. */
  readonly changes: readonly PositionedChange[]
  /** Whether this is the first read of a new connection, which may lead to another database. */
  readonly isReconnected: boolean
}

/** Reads the feed of one kind of database. */
export interface FeedSource {
  readonly pollMs: number
  /** Whether anything may have changed since the last read that reached the head. Cheap. */
  mayHaveChanged(): boolean
  read(after: number): Promise<FeedRead>
  close(): Promise<void>
}

const batch = 1000
const postgresPollMs = 250
const sqlitePollMs = 20
/** How often the file at the path of a database that has not changed is compared with the open one. Each write compares it too. */
const sameFileMs = 250
const queryTimeoutMs = 1000
const closeTimeoutMs = 1000

interface Row {
  readonly head: number | string
  readonly position: number | string | null
  readonly kind: ChangeKind
  readonly subject: string
  readonly created_at: number | string
  /** PostgreSQL: `on` if it takes no changes. */
  readonly read_only?: string
}

/**
 * One statement, so that head and changes are consistent.
 * @param more columns of the first row
 */
function readSql(parameter: string, more = ''): string {
  return `select ${more}h.position as head, f.position, f.kind, f.subject, f.created_at from waypost_feed_head h
    left join (select * from waypost_feed where position >= ${parameter} order by position limit ${batch + 1}) f
      on f.position <= h.position
    order by f.position`
}

function readRows(rows: readonly Row[], after: number): Omit<FeedRead, 'isReconnected'> {
  const found = rows.flatMap(({ position, kind, subject, created_at }) =>
    position === null ? [] : [{ position: Number(position), kind, subject, mark: `${kind} ${subject} ${created_at}` }],
  )
  const atPosition = found[0]?.position === after ? found[0] : undefined
  return { head: Number(rows[0]!.head), atPosition, changes: atPosition === undefined ? found : found.slice(1) }
}

/** @param wake called when PostgreSQL notifies of a change before the next poll */
export function openFeedSource(system: System, wake: () => void): FeedSource {
  return system.kind === 'sqlite'
    ? openSqliteSource(system.database as SqliteDatabase)
    : openPostgresSource(system.database as PostgresDatabase, wake)
}

/** `PRAGMA data_version` takes one microsecond and shows whether another handle has committed. */
function openSqliteSource(database: SqliteDatabase): FeedSource {
  const handle = database.openHandle(true)
  const version = handle.prepare('pragma data_version')
  const query = readSql('?')
  let seen: unknown
  let comparedAt = -Infinity
  let isOther = false
  return {
    pollMs: sqlitePollMs,
    mayHaveChanged() {
      if (version.get()?.['data_version'] !== seen) return true
      const now = performance.now()
      if (isOther || now - comparedAt >= sameFileMs) {
        comparedAt = now
        isOther = !isSame(database)
      }
      return isOther
    },
    async read(after) {
      database.assertSame()
      const before = version.get()?.['data_version']
      const rows = handle.prepare(query).all(after) as never as readonly Row[]
      const read = { ...readRows(rows, after), isReconnected: false }
      if ((read.changes.at(-1)?.position ?? after) >= read.head) seen = before // otherwise there is more to read, even without further commits
      return read
    },
    async close() {
      handle.close()
    },
  }
}

function isSame(database: SqliteDatabase): boolean {
  try {
    database.assertSame()
    return true
  } catch {
    return false
  }
}

const postgresSql = readSql('$1', "current_setting('transaction_read_only') as read_only, ")

/** A client outside every pool, so that an application that exhausts its pool does not stop the feed. */
function openPostgresSource(database: PostgresDatabase, wake: () => void): FeedSource {
  let current: Promise<Client> | undefined

  async function connect(): Promise<Client> {
    const client = await database.openClient()
    try {
      if (await hasSession(client)) {
        client.on('notification', wake)
        await client.query(withTimeout('listen waypost_feed'))
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
        const { rows } = await client.query<Row>({ ...withTimeout(postgresSql), values: [after] })
        // A standby, or the former primary after a switchover, may lack changes. The next poll connects again.
        if (rows[0]?.read_only === 'on') {
          database.staleness.foundReadOnly()
          throw errors.WP_STORE_READ_ONLY({ ...database.target })
        }
        return { ...readRows(rows, after), isReconnected }
      } catch (error) {
        // A connection that failed may be half open and never answer again.
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
 * Whether the client has its own session. A pooler returns its own process ids. In transaction mode it would pass
 * LISTEN on to the next client of the session, and it drops connections that receive unexpected messages.
 */
async function hasSession(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ pid: number }>(withTimeout('select pg_backend_pid() as pid'))
  return rows[0]?.pid === (client as { processID?: number }).processID
}

function withTimeout(text: string): QueryConfig {
  return { text, query_timeout: queryTimeoutMs } as QueryConfig // supported by pg but missing from its types
}

/** Closes a client, and destroys its socket if the other side does not answer. */
async function endClient(client: Client): Promise<void> {
  const cut = setTimeout(() => client.connection.stream.destroy(), closeTimeoutMs)
  await client.end().catch(() => undefined)
  clearTimeout(cut)
}
