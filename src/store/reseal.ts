import { sql, type Transaction } from 'kysely'
import { lockFact, type SystemFacts } from './facts.ts'
import { sealedColumns, type SealedColumn, type Secrets } from './secrets.ts'
import { jsonRows } from './sql/expressions.ts'
import type { System } from './system.ts'
import type { SystemTables } from './tables.ts'

/** The number of re-encrypted values by table. */
export type ResealCounts = Readonly<Record<SealedColumn['table'], number>>

export interface ResealContext {
  readonly trx: Transaction<SystemTables>
  readonly secrets: Secrets
}

export interface ResealBatches {
  readonly secrets: Secrets
  /** The stored check value. If another process replaces it, no more batches follow. */
  readonly check: SystemFacts['secret_check']
  /** Called after each batch with the number of values so far. */
  onBatch?(done: number): void
}

const chunk = 500

/**
 * Re-encrypts all values that are not encrypted under the newest secret, in the transaction of the caller.
 * @throws WP_STORE_SEALED if no secret can decrypt a value
 */
export async function resealAll(system: System, context: ResealContext): Promise<ResealCounts> {
  const counts = noCounts()
  for (const location of sealedColumns) {
    for (let after = ''; ;) {
      const { count, last } = await resealChunk(system, context, { location, after })
      counts[location.table] += count
      if (last === undefined) break
      after = last
    }
  }
  return counts
}

/**
 * Like `resealAll`, each batch in a short transaction of its own, so that other changes wait for no more than one. If it is
 * interrupted, every value is encrypted under one of the secrets, and the next call continues.
 * @throws WP_STORE_SEALED if no secret can decrypt a value
 */
export async function resealInBatches(
  system: System,
  { secrets, check, onBatch }: ResealBatches,
): Promise<ResealCounts> {
  const counts = noCounts()
  let done = 0
  for (const location of sealedColumns) {
    for (let after = ''; ;) {
      const start = after
      const { count, last } = await system.transaction(async (trx) => {
        const isSame = (await lockFact(system, trx, 'secret_check')) === check
        return isSame ? resealChunk(system, { trx, secrets }, { location, after: start }) : nothing
      })
      counts[location.table] += count
      done += count
      if (count > 0) onBatch?.(done)
      if (last === undefined) break
      after = last
    }
  }
  return counts
}

/** Returns how many values are not encrypted under the newest secret. */
export async function countOlderSealed({ db }: System, secrets: Secrets): Promise<number> {
  let count = 0
  for (const { table, column } of sealedColumns) {
    const { rows } = await sql<{ count: number }>`
      select count(*) as count from ${sql.table(table)} where ${isOlder(column, secrets)}`.execute(db)
    count += rows[0]!.count
  }
  return count
}

function noCounts(): Record<SealedColumn['table'], number> {
  return Object.fromEntries(sealedColumns.map(({ table }) => [table, 0])) as Record<SealedColumn['table'], number>
}

function isOlder(column: SealedColumn['column'], { keyIds: [newest = ''] }: Secrets) {
  const start = `v1.${newest}.`
  return sql<boolean>`substr(${sql.ref(column)}, 1, ${sql.lit(start.length)}) <> ${start}`
}

/** How many values were re-encrypted, and the id of the last one if more may be left. */
interface Chunk {
  readonly count: number
  readonly last: string | undefined
}

const nothing: Chunk = { count: 0, last: undefined }

async function resealChunk(
  system: System,
  { trx, secrets }: ResealContext,
  { location, after }: { location: SealedColumn; after: string },
): Promise<Chunk> {
  const { table, column } = location
  const lock = system.kind === 'postgresql' ? sql`for update` : sql``
  const { rows } = await sql<{ id: string; sealed: string }>`
    select id, ${sql.ref(column)} as sealed from ${sql.table(table)} where ${isOlder(column, secrets)} and id > ${after}
    order by id limit ${chunk} ${lock}`.execute(trx)
  if (rows.length === 0) return nothing
  const changed = rows.map(({ id, sealed }) => {
    const row = { ...location, row: id }
    return [id, secrets.seal(secrets.unseal(sealed, row), row)]
  })
  await sql`
    update ${sql.table(table)} set ${sql.ref(column)} = changed.sealed
    from (select value ->> 0 as id, value ->> 1 as sealed from ${jsonRows(system, changed)}) as changed
    where ${sql.table(table)}.id = changed.id`.execute(trx)
  return { count: rows.length, last: rows.length < chunk ? undefined : rows.at(-1)!.id }
}
