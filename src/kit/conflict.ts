/** What a database refused to store because of one of its constraints. */
export interface Conflict {
  readonly kind: 'unique' | 'foreign key' | 'check' | 'not null'
  readonly table?: string | undefined
  /** Columns, as far as the database names them: SQLite names none of a foreign key, and a check may be of any. */
  readonly columns: readonly string[]
  /** Name or expression of the constraint, where the database names that instead. */
  readonly constraint?: string | undefined
}

/**
 * Whether an error is a violation of a constraint of PostgreSQL or SQLite: unique, foreign key, check or not null.
 * @param column only where the database names this column; it names none for foreign keys of SQLite and for checks
 */
export function isConflict(error: unknown, column?: string): boolean {
  const conflict = readConflict(error)
  return conflict !== undefined && (column === undefined || conflict.columns.includes(column))
}

/** Reads the constraint violation that an error tells of, as `pg` and `node:sqlite` throw it; undefined for any other. */
export function readConflict(error: unknown): Conflict | undefined {
  if (!(error instanceof Error)) return undefined
  const { code, errcode } = error as { code?: unknown; errcode?: unknown }
  if (code === 'ERR_SQLITE_ERROR' && typeof errcode === 'number') return readSqlite(errcode, error.message)
  return typeof code === 'string' ? readPostgres(code, error) : undefined
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

/** Messages end with `book.isbn, book.edition`, `index 'NAME'`, or with the name or text of a check. */
function readSqlite(errcode: number, message: string): Conflict | undefined {
  const kind = sqliteKinds.get(errcode)
  if (kind === undefined) return undefined
  const told = /constraint failed: (.+)$/s.exec(message)?.[1]
  if (told === undefined) return { kind, columns: [] }
  if (kind === 'check' || told.startsWith('index ')) return { kind, columns: [], constraint: told }
  const names = told.split(', ').map((name) => name.split('.'))
  return { kind, table: names[0]![0], columns: names.map((name) => name.slice(1).join('.')) }
}

/** By SQLSTATE (https://www.postgresql.org/docs/current/errcodes-appendix.html). */
const postgresKinds: ReadonlyMap<string, Conflict['kind']> = new Map([
  ['23505', 'unique'],
  ['23P01', 'unique'], // exclusion
  ['23503', 'foreign key'],
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
  // `Key (a, "B")=(1, 2) already exists.`, in the language of the server.
  const key = /\((.+?)\)=\(/.exec(detail)?.[1]
  const columns =
    column === undefined ? (key?.split(', ').map((name) => name.replace(/^"(.*)"$/, '$1')) ?? []) : [column]
  return { kind, table, columns: kind === 'check' ? [] : columns, constraint }
}
