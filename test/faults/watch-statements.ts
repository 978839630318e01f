import { Socket } from 'node:net'
import { DatabaseSync, StatementSync } from 'node:sqlite'

/**
 * Calls a function before each statement that this process sends to SQLite or PostgreSQL, and after each commit. Only
 * for processes that a test starts: it patches what all of them share.
 */
export function watchStatements(pass: (sql: string) => void): void {
  for (const name of ['run', 'all']) {
    watchSqlite(pass, { prototype: StatementSync.prototype, name, sqlOf: (self) => (self as StatementSync).sourceSQL })
  }
  watchSqlite(pass, { prototype: DatabaseSync.prototype, name: 'exec', sqlOf: (_self, [sql]) => String(sql) })
  watchPostgres(pass)
}

interface Watched {
  readonly prototype: object
  readonly name: string
  sqlOf(self: unknown, args: readonly unknown[]): string
}

function watchSqlite(pass: (sql: string) => void, { prototype, name, sqlOf }: Watched): void {
  const methods = prototype as Record<string, (...args: unknown[]) => unknown>
  const original = methods[name]!
  methods[name] = function run(...args) {
    const sql = sqlOf(this, args)
    pass(sql)
    const result = original.apply(this, args)
    if (isCommit(sql)) pass(sql)
    return result
  }
}

/** At the socket, since the built command line carries its own copy of `pg`. */
function watchPostgres(pass: (sql: string) => void): void {
  const { prototype } = Socket
  const original = prototype.write as (this: Socket, ...args: unknown[]) => boolean
  prototype.write = function write(this: Socket, ...args: unknown[]): boolean {
    const sql = readStatement(args[0])
    if (sql !== undefined) {
      pass(sql)
      if (isCommit(sql)) this.prependOnceListener('data', () => pass(sql))
    }
    return original.apply(this, args)
  }
}

/** The SQL of a message Query or Parse, each of which `pg` writes by itself (PostgreSQL: Message Formats). */
function readStatement(message: unknown): string | undefined {
  if (!Buffer.isBuffer(message) || message.length < 6) return undefined
  const type = String.fromCharCode(message[0]!)
  if ((type !== 'Q' && type !== 'P') || message.readInt32BE(1) !== message.length - 1) return undefined
  const start = type === 'Q' ? 5 : message.indexOf(0, 5) + 1 // Parse begins with the name of the statement
  return message.toString('utf8', start, message.indexOf(0, start))
}

function isCommit(sql: string): boolean {
  return sql.toLowerCase() === 'commit'
}
