/** A constraint violation that a database reported. */
export interface Conflict {
  readonly kind: 'unique' | 'foreign key' | 'check' | 'not null'
  readonly table?: string | undefined
  /** The columns that the database names. Check constraints have none, nor have foreign keys in raw SQL on SQLite. */
  readonly columns: readonly string[]
  /** Name or expression of the constraint, if the database reports that instead. */
  readonly constraint?: string | undefined
}

/**
 * Whether an error is a constraint violation of PostgreSQL or SQLite: unique, foreign key, check or not null.
 * @param column only violations of this column; databases name no column for check constraints, and SQLite none for
 * foreign keys in raw SQL
 */
export function isConflict(error: unknown, column?: string): boolean {
  const conflict = parseConflict(error)
  return conflict !== undefined && (column === undefined || conflict.columns.includes(column))
}

/** Parses the constraint violation in an error that `pg` or `node:sqlite` threw. Returns undefined for other errors. */
export function parseConflict(error: unknown): Conflict | undefined {
  if (!(error instanceof Error)) return undefined
  const { code, errcode } = error as { code?: unknown; errcode?: unknown }
  if (code === 'ERR_SQLITE_ERROR' && typeof errcode === 'number') return readSqlite(errcode, error.message)
  return typeof code === 'string' ? readPostgres(code, error) : undefined
}

/**
 * Whether a statement of PostgreSQL failed only because of others that ran at the same time: it could not be serialized
 * with them, or waited too long for a lock. Nothing was stored, so the caller may try again.
 */
export function isContention(error: unknown): boolean {
  const { code } = Object(error) as { readonly code?: unknown }
  return code === '40001' || code === '40P01' || code === '55P03'
}

/** By extended result code (https://sqlite.org/rescode.html). */
const sqliteKinds: ReadonlyMap<number, Conflict['kind']> = new Map([
  [2067, 'unique'], // SQLITE_CONSTRAINT_UNIQUE
  [1555, 'unique'], // SQLITE_CONSTRAINT_PRIMARYKEY
  [2579, 'unique'], // SQLITE_CONSTRAINT_ROWID
  [787, 'foreign key'], // SQLITE_CONSTRAINT_FOREIGNKEY
  [275, 'check'], // SQLITE_CONSTRAINT_CHECK
  [1299, 'not null'], // SQLITE_CONSTRAINT_NOTNULL
])

/**
 * Messages end with `book.isbn, book.edition`, with `index 'NAME'`, or with the name or expression of a check
 * constraint.
 */
function readSqlite(errcode: number, message: string): Conflict | undefined {
  // SQLITE_CONSTRAINT_TRIGGER, also for "on delete restrict"
  if (errcode === 1811 && message === 'FOREIGN KEY constraint failed') return { kind: 'foreign key', columns: [] }
  const kind = sqliteKinds.get(errcode)
  if (kind === undefined) return undefined
  const reported = /constraint failed: (.+)$/s.exec(message)?.[1]
  if (reported === undefined) return { kind, columns: [] }
  if (kind === 'check' || reported.startsWith('index ')) return { kind, columns: [], constraint: reported }
  const names = reported.split(', ').map((name) => name.split('.'))
  return { kind, table: names[0]![0], columns: names.map((name) => name.slice(1).join('.')) }
}

/** By SQLSTATE (https://www.postgresql.org/docs/current/errcodes-appendix.html). */
const postgresKinds: ReadonlyMap<string, Conflict['kind']> = new Map([
  ['23505', 'unique'],
  ['23P01', 'unique'], // exclusion constraint
  ['23503', 'foreign key'],
  ['23001', 'foreign key'], // of "on delete restrict", from PostgreSQL 18
  ['23514', 'check'],
  ['23502', 'not null'],
])

function readPostgres(code: string, error: Error): Conflict | undefined {
  const kind = postgresKinds.get(code)
  if (kind === undefined) return undefined
  const {
    table,
    column,
    constraint,
    detail = '',
  } = error as { readonly [Key in 'table' | 'column' | 'constraint' | 'detail']?: string }
  // `Key (a, "B")=(1, 2) already exists.`, in the server's language.
  const key = /\((.+?)\)=\(/.exec(detail)?.[1]
  const columns =
    column === undefined ? (key?.split(', ').map((name) => name.replace(/^"(.*)"$/, '$1')) ?? []) : [column]
  return { kind, table, columns: kind === 'check' ? [] : columns, constraint }
}
