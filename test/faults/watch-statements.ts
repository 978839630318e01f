import { DatabaseSync, StatementSync } from 'node:sqlite'
import pg from 'pg'

/**
 * Calls a function before each statement that this process sends to SQLite or PostgreSQL, and behind each commit. Only
 * for processes that a test starts: it patches what all of them share.
 */
export function watchStatements(pass: (sql: string) => void): void {
  for (const name of ['run', 'all']) {
    watch(pass, { prototype: StatementSync.prototype, name, sqlOf: (self) => (self as StatementSync).sourceSQL })
  }
  watch(pass, { prototype: DatabaseSync.prototype, name: 'exec', sqlOf: (_self, [sql]) => String(sql) })
  const textOf = (_self: unknown, [query]: readonly unknown[]) =>
    typeof query === 'string' ? query : (query as { readonly text: string }).text
  watch(pass, { prototype: pg.Client.prototype, name: 'query', sqlOf: textOf })
}

interface Watched {
  readonly prototype: object
  readonly name: string
  sqlOf(self: unknown, args: readonly unknown[]): string
}

function watch(pass: (sql: string) => void, { prototype, name, sqlOf }: Watched): void {
  const methods = prototype as Record<string, (...args: unknown[]) => unknown>
  const original = methods[name]!
  methods[name] = function run(...args) {
    const sql = sqlOf(this, args) ?? ''
    pass(sql)
    const result = original.apply(this, args)
    if (sql.toLowerCase() !== 'commit') return result
    if (!(result instanceof Promise)) return (pass(sql), result)
    return result.then((value: unknown) => (pass(sql), value))
  }
}
