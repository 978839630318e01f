import type { Transaction } from 'kysely'
import { sealedColumns, type SealedColumn, type Secrets } from './secrets.ts'
import type { System } from './system.ts'
import type { SystemTables } from './tables.ts'

/** The number of re-encrypted values by table. */
export type ResealCounts = Readonly<Record<SealedColumn['table'], number>>

/** The transaction that changes the secret. All values are re-encrypted in it, or none. */
export interface ResealContext {
  readonly trx: Transaction<SystemTables>
  readonly secrets: Secrets
}

const chunk = 500

/**
 * Re-encrypts all values that are not encrypted under the newest secret.
 * @throws WP_STORE_SEALED if no secret can decrypt a value
 */
export async function resealAll(system: System, context: ResealContext): Promise<ResealCounts> {
  const counts: Record<string, number> = {}
  for (const location of sealedColumns) {
    counts[location.table] = (counts[location.table] ?? 0) + (await resealColumn(system, context, location))
  }
  return counts as unknown as ResealCounts
}

async function resealColumn(system: System, { trx, secrets }: ResealContext, location: SealedColumn): Promise<number> {
  // All of these tables have an id and the encrypted column, and no other column is used, so the type of one table is
  // correct for each.
  const { table, column } = location as Extract<SealedColumn, { table: 'waypost_key' }>
  let count = 0
  let after = ''
  for (;;) {
    const rows = await trx
      .selectFrom(table)
      .select(['id', `${column} as sealed`])
      .where('id', '>', after)
      .where(column, 'is not', null)
      .orderBy('id')
      .limit(chunk)
      .$if(system.kind === 'postgresql', (query) => query.forUpdate())
      .execute()
    for (const { id, sealed } of rows) {
      const rowLocation = { ...location, row: id }
      if (secrets.isNewest(sealed)) continue
      const again = secrets.seal(secrets.unseal(sealed, rowLocation), rowLocation)
      await trx
        .updateTable(table)
        .set({ [column]: again })
        .where('id', '=', id)
        .execute()
      count++
    }
    if (rows.length < chunk) return count
    after = rows.at(-1)!.id
  }
}
