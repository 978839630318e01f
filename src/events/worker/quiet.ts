import { sql } from 'kysely'
import { openCommitWatch, type CommitWatch, type System } from '../../store/index.ts'

/**
 * Whether nothing can become due before the next commit, because nothing waits for a worker. Then a worker need not read,
 * which takes milliseconds on SQLite. On PostgreSQL this is never known.
 */
export class Quiet {
  readonly #system: System
  #watch: CommitWatch | undefined
  /** That of the watch when nothing waited. */
  #version: unknown

  constructor(system: System) {
    this.#system = system
  }

  get isSure(): boolean {
    return this.#version !== undefined && this.#version === this.#watch?.version()
  }

  /** Looks whether something waits. */
  async look(): Promise<void> {
    this.#watch ??= openCommitWatch(this.#system)
    const before = this.#watch?.version()
    if (before !== undefined && !(await isAnythingWaiting(this.#system))) this.#version = before
  }

  close(): void {
    this.#watch?.close()
    this.#watch = undefined
    this.#version = undefined
  }
}

/** Each part has an index of its own. */
async function isAnythingWaiting(system: System): Promise<boolean> {
  const parts = [
    sql`waypost_message where fanned_out_at is null`,
    sql`waypost_delayed`,
    sql`waypost_delivery where status = 'pending' and due_at = 0`,
    sql`waypost_delivery where status = 'pending' and due_at > 0`,
    sql`waypost_run where status = 'pending' and exclusive_key is null`,
    sql`waypost_run where status = 'pending' and exclusive_key is not null`,
    sql`waypost_run where status = 'running'`,
  ]
  const found = parts.map((part) => sql`exists (select 1 from ${part})`)
  const { rows } = await sql<{ waiting: number }>`select ${sql.join(found, sql` or `)} as waiting`.execute(system.db)
  return rows[0]?.waiting !== 0
}
