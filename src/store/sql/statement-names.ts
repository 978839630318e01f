import { isForgotten } from './postgres-errors.ts'

/** The maximum number of statements that a pool prepares. Further ones run unprepared. */
const maxNames = 256
const maxSeen = 1000
/** A longer text is probably made for one use, for example an insert of many rows. */
const maxLength = 8192

// A change of the tables may invalidate a prepared statement: its result type, or a column or type it mentions. The type
// of a parameter is that of the column when the statement was prepared, so values may be rejected that fit now.
const outdated = /^(0A000|42|22)/

/**
 * Names for the prepared statements of a pool. PostgreSQL parses and plans a named statement once per connection. A text
 * gets its name when it is used for the second time, and keeps it: statements are never closed.
 */
export class StatementNames {
  readonly #names = new Map<string, string>()
  readonly #seen = new Set<string>()
  #count = 0
  #isOff = false

  /** @returns undefined for a statement that is not prepared */
  nameOf(text: string, parameters: readonly unknown[]): string | undefined {
    if (this.#isOff || parameters.length === 0 || text.length > maxLength) return undefined
    const known = this.#names.get(text)
    if (known !== undefined || this.#names.size >= maxNames) return known
    if (!this.#seen.delete(text)) {
      if (this.#seen.size >= maxSeen) this.#seen.clear()
      this.#seen.add(text)
      return undefined
    }
    return this.#rename(text)
  }

  /** Ends the use of prepared statements, because a pooler gives transactions changing connections. */
  stop(): void {
    this.#isOff = true
  }

  /** Whether a prepared statement may have failed only because it was prepared. */
  isSuspect(error: unknown): boolean {
    const { code } = error as { readonly code?: unknown }
    if (typeof code !== 'string') return false
    if (isForgotten(error)) this.stop()
    return isForgotten(error) || outdated.test(code)
  }

  /** Prepares a statement again on all connections, because the tables changed. */
  renew(text: string): void {
    if (this.#names.has(text)) this.#rename(text)
  }

  #rename(text: string): string {
    const name = `waypost_${(this.#count += 1)}`
    this.#names.set(text, name)
    return name
  }
}
