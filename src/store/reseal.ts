import type { Transaction } from 'kysely'
import { sealedColumns, type SealedColumn, type Secrets } from './secrets.ts'
import type { System } from './system.ts'
import type { SystemTables } from './tables.ts'

/** How many values of each table were sealed again. */
export type Resealed = Readonly<Record<SealedColumn['table'], number>>

/** The transaction of whoever changes the secret: all values are sealed again in it, or none. */
export interface Resealing {
  readonly trx: Transaction<SystemTables>
  readonly secrets: Secrets
}

const chunk = 500

/** Seals again what is not sealed under the newest secret. @throws WP_STORE_SEALED where none of the secrets fits */
export async function resealAll(system: System, resealing: Resealing): Promise<Resealed> {
  const counts: Record<string, number> = {}
  for (const place of sealedColumns) {
    counts[place.table] = (counts[place.table] ?? 0) + (await resealColumn(system, resealing, place))
  }
  return counts as unknown as Resealed
}

async function resealColumn(system: System, { trx, secrets }: Resealing, place: SealedColumn): Promise<number> {
  // All of them have an id and the sealed text, which is all that is touched: one of them stands for each.
  const { table, column } = place as Extract<SealedColumn, { table: 'waypost_key' }>
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
      const here = { ...place, row: id }
      if (secrets.isNewest(sealed)) continue
      const again = secrets.seal(secrets.unseal(sealed, here), here)
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
