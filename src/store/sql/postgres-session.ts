/**
 * Settings that each connection of Waypost sets, because a role, a database or a provider may have set others, and
 * values or statements would then mean something else.
 */
const pinned: Readonly<Record<string, string | number>> = {
  timezone: `'UTC'`, // text without a zone is UTC, as on SQLite
  datestyle: `'ISO, YMD'`, // the form of dates and times that is read
  intervalstyle: 'postgres', // an interval is returned as text
  bytea_output: 'hex', // with "escape", bytes would be read as other bytes
  extra_float_digits: 1, // with fewer digits, a number that was read would not select its row, and a cursor would not move
  standard_conforming_strings: 'on', // otherwise a backslash in a text of a statement is an escape
  array_nulls: 'on', // otherwise null in a list is the text "NULL"
  transform_null_equals: 'off', // otherwise "= null" finds rows
  row_security: 'on', // otherwise a table with policies is an error instead of the rows that the policies show
  // PostgreSQL detects a failed client after 25 s and releases its locks; by default after two hours.
  tcp_keepalives_idle: 10,
  tcp_keepalives_interval: 5,
  tcp_keepalives_count: 3,
}

/** Statements of Waypost on its own tables wait for others and then see their changes. */
const pinnedForSystem = { default_transaction_isolation: `'read committed'` }

/**
 * Settings that are left as they are, and what follows from them. `test/support/postgres.ts` sets all of them to other
 * values, with `WAYPOST_TEST_POSTGRES_SETTINGS=unusual`.
 *
 * - `default_transaction_isolation` of a project's connection: its code may need it. Errors 40001 and 40P01 of a single
 *   statement repeat it; otherwise the answer is 503.
 * - `lock_timeout`: protects other programs. 55P03 is 503.
 * - `statement_timeout`, `transaction_timeout`, `idle_in_transaction_session_timeout`, `idle_session_timeout`: the answer
 *   is 503, and the connection is replaced. Migrations of a project and the lock of migrations have no such limits.
 * - `default_transaction_read_only`: changes are 503, as on a standby.
 * - `search_path`: the tables of a connection are those of its first schema.
 * - `lc_messages`, `client_min_messages`: no decision depends on the text of a message.
 * - `work_mem`, `max_parallel_workers`, `jit` and the like: only change how fast a statement is.
 */
export interface SessionOptions {
  /** For System; the default of a role applies to other databases. */
  readonly isSystem?: boolean | undefined
  /** 0 or undefined for that of the role. */
  readonly statementTimeoutMs?: number | undefined
}

/** Returns the statement that prepares a new connection. Poolers reject options at the start of a connection. */
export function writeSessionSettings({ isSystem = false, statementTimeoutMs = 0 }: SessionOptions): string {
  const all = {
    ...pinned,
    ...(isSystem && pinnedForSystem),
    ...(statementTimeoutMs > 0 && { statement_timeout: statementTimeoutMs }),
  }
  return Object.entries(all)
    .map(([name, value]) => `set ${name} = ${value}`)
    .join('; ')
}

/** A schema is set by a statement too. Works with any `standard_conforming_strings`. */
export function writeSearchPath(path: string): string {
  return `select set_config('search_path', E'${path.replaceAll('\\', String.raw`\\`).replaceAll("'", "''")}', false)`
}
