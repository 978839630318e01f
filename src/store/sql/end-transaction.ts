import { sql, type RawBuilder } from 'kysely'

/** Marks a message that commits, whose client sends nothing more for its transaction. */
export const endMark = '/* ends the transaction */'

/**
 * Returns a statement of PostgreSQL as one message with the commit of its transaction, so that a process that is frozen between
 * them holds no lock. Such a message has no parameters. If the statement fails, nothing is committed.
 */
export function withCommit(statement: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`${sql.raw(endMark)} ${statement}; commit`
}
