import assert from 'node:assert/strict'
import type { Kysely } from 'kysely'
import type { DatabaseKind, TablesSnapshot } from '../../src/contract/index.ts'
import { parseMigration } from '../../src/definition/index.ts'
import { loadSnapshot } from '../../src/store/migrate/load-snapshot.ts'
import { ensureMigrationTable } from '../../src/store/migrate/migration-table.ts'
import { applySteps, writeSnapshot, type Step } from '../../src/tables/index.ts'
import type { AnyTables } from './each-database.ts'

export function parse(text: string): readonly Step[] {
  const { steps, diagnostics } = parseMigration('a.yml', text)
  assert.deepEqual(diagnostics, [])
  return steps
}

/** The text of the tables that migrations make, as computed from their steps. */
export function compute(texts: readonly string[]): string {
  let tables: TablesSnapshot = { tables: {} }
  for (const text of texts) {
    const applied = applySteps(tables, parse(text))
    assert.deepEqual(applied.problems, [])
    tables = applied.tables
  }
  return writeSnapshot({ migrations: {}, ...tables })
}

/** The text of the tables as they are in a database. */
export async function introspect(db: Kysely<AnyTables>, kind: DatabaseKind): Promise<string> {
  await ensureMigrationTable({ db, kind }) // otherwise another program made the tables
  return writeSnapshot({ ...(await loadSnapshot(db, kind)), migrations: {} })
}
