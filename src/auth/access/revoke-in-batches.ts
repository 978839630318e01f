import { sql, type Kysely, type RawBuilder, type Transaction } from 'kysely'
import { isOneOf, recordChanges, type System, type SystemTables } from '../../store/index.ts'
import { changeOf } from '../token/revoke.ts'

/** Selects the access to end: that of a user, or that of a client on behalf of any user. */
export type AccessSubject = { readonly userId: string } | { readonly clientId: string }

export interface Batches {
  /** Rows of a batch. Up to so many are revoked in the transaction of the caller. */
  readonly size?: number | undefined
  /** Called after each batch with the number of access tokens that have been revoked. */
  onBatch?(tokens: number): void
}

/** Batches after a transaction. */
export interface Leaving extends Batches {
  /** Set by the transaction if it has left rows to `revokeRest`. */
  isLeft?: boolean
}

export interface AccessRows {
  readonly of: AccessSubject
  readonly now: number
  /** A family, and a token, that stay valid. */
  readonly except?: { readonly familyId: string | null; readonly jti: string }
}

const batchSize = 1000
/** Ids are listed for so many batches at once. */
const batchesPerList = 20

/** Families before tokens: issuing a token locks the row of its family, so no token is missed. */
const tables = { waypost_token_family: 'id', waypost_token: 'jti' } as const
type Table = keyof typeof tables
const tableNames = Object.keys(tables) as Table[]

/**
 * Revokes the access of a user or client in a transaction, which must stay short so that others do not wait for 100,000
 * rows: more than those of a batch are only counted, and left to `revokeRest`.
 * @returns the number of valid access tokens
 */
export async function revokeUnlessMany(
  trx: Transaction<SystemTables>,
  rows: AccessRows,
  leaving: Leaving,
): Promise<number> {
  const limit = (leaving.size ?? batchSize) + 1
  for (const table of tableNames) {
    const ids = await listIds(trx, { table, isChosen: chooseRows(table, rows), limit })
    leaving.isLeft = ids.length === limit
    if (leaving.isLeft) return countTokens(trx, rows)
  }
  return revokeNow(trx, rows)
}

/**
 * Revokes in batches what `revokeUnlessMany` has left, after its transaction, and then what has been issued since. Servers
 * notice it meanwhile. If it is interrupted, the next call continues.
 */
export async function revokeRest(system: System, rows: AccessRows, leaving: Leaving): Promise<void> {
  if (leaving.isLeft !== true) return
  const record = (trx: Transaction<SystemTables>) => recordChanges(system, trx, [changeOf(rows.of)])
  await revokeEach(system, rows.now, {
    ...leaving,
    families: chooseRows('waypost_token_family', rows),
    tokens: chooseRows('waypost_token', rows),
    revokesLast: true,
    onList: () => system.transaction(record),
  })
  await system.transaction(async (trx) => {
    await revokeNow(trx, rows)
    await record(trx)
  })
}

function chooseRows(table: Table, { of, now, except }: AccessRows): RawBuilder<boolean> {
  const [column, value] = 'userId' in of ? ['user_id', of.userId] : ['client_id', of.clientId]
  const isOf = sql<boolean>`${sql.ref(column)} = ${value}`
  if (table === 'waypost_token_family') return sql`${isOf} and id <> ${except?.familyId ?? ''}`
  return sql`${isOf} and jti <> ${except?.jti ?? ''} and expires_at > ${now}`
}

async function countTokens(trx: Transaction<SystemTables>, rows: AccessRows): Promise<number> {
  const tokens = trx
    .selectFrom('waypost_token')
    .where('revoked_at', 'is', null)
    .where(chooseRows('waypost_token', rows))
  const { count } = await tokens.select((column) => column.fn.countAll<number>().as('count')).executeTakeFirstOrThrow()
  return count
}

/** @returns the number of revoked access tokens */
async function revokeNow(trx: Transaction<SystemTables>, rows: AccessRows): Promise<number> {
  let count = 0n
  for (const table of tableNames) {
    const update = trx.updateTable(table).set({ revoked_at: rows.now }).where('revoked_at', 'is', null)
    count = (await update.where(chooseRows(table, rows)).executeTakeFirstOrThrow()).numUpdatedRows
  }
  return Number(count)
}

/** Revokes most of all access in batches, before a transaction that revokes the rest. */
export function revokeAllInBatches(system: System, { now, ...batches }: Batches & { now: number }): Promise<number> {
  return revokeEach(system, now, { ...batches, families: sql<boolean>`true`, tokens: sql<boolean>`true` })
}

/** Revokes access tokens that were issued until a time, after the key that signed them was withdrawn. */
export function revokeTokensUntil(
  system: System,
  { now, until, ...batches }: Batches & { readonly now: number; readonly until: number },
): Promise<number> {
  const tokens = sql<boolean>`expires_at > ${now} and created_at <= ${until}`
  return revokeEach(system, now, { ...batches, tokens, revokesLast: true })
}

interface Chosen extends Batches {
  readonly families?: RawBuilder<boolean>
  readonly tokens: RawBuilder<boolean>
  /** Whether the rows of the last batch are revoked too, because no transaction follows. */
  readonly revokesLast?: boolean
  /** Called after the batches of each list of ids. */
  onList?(): Promise<void>
}

async function revokeEach(
  system: System,
  now: number,
  { families, tokens: ofTokens, revokesLast = false, size = batchSize, onBatch, onList }: Chosen,
): Promise<number> {
  let tokens = 0
  const steps = [['waypost_token_family', families] as const, ['waypost_token', ofTokens] as const]
  for (const [table, isChosen] of steps) {
    if (isChosen === undefined) continue
    const length = size * batchesPerList
    for (let isFull = true; isFull;) {
      const ids = await listIds(system.db, { table, isChosen, limit: length })
      if (ids.length <= (revokesLast ? 0 : size)) break
      let changed = 0
      for (let begin = 0; begin < ids.length; begin += size) {
        const count = await revokeBatch(system, table, { ids: ids.slice(begin, begin + size), now })
        changed += count
        if (table === 'waypost_token') tokens += count
        onBatch?.(tokens)
      }
      await onList?.()
      isFull = ids.length === length && changed > 0
    }
  }
  return tokens
}

async function listIds(
  db: Kysely<SystemTables>,
  { table, isChosen, limit }: { table: Table; isChosen: RawBuilder<boolean>; limit: number },
): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`select ${sql.ref(tables[table])} as id from ${sql.table(table)}
    where revoked_at is null and ${isChosen} limit ${sql.lit(limit)}`.execute(db)
  return rows.map(({ id }) => id)
}

/** Does not wait for rows that others have locked: the transaction afterwards does. */
async function revokeBatch(
  system: System,
  table: Table,
  { ids, now }: { readonly ids: readonly string[]; readonly now: number },
): Promise<number> {
  const key = sql.ref(tables[table])
  const lock = system.kind === 'postgresql' ? sql`for update skip locked` : sql``
  const { numAffectedRows = 0n } = await sql`
    with chosen as materialized (
      select ${key} from ${sql.table(table)} where ${isOneOf(system, key, ids)} and revoked_at is null ${lock}
    )
    update ${sql.table(table)} set revoked_at = ${now} where ${key} in (select ${key} from chosen)`.execute(system.db)
  return Number(numAffectedRows)
}
