import { sql, type RawBuilder } from 'kysely'
import { isOneOf, type System } from '../../store/index.ts'
import type { AccessSubject } from './end-access.ts'

export interface Batches {
  /** Rows of a batch. Up to so many are left to the transaction of the caller. */
  readonly size?: number | undefined
  /** Called after each batch with the number of access tokens that have been revoked. */
  onBatch?(tokens: number): void
}

const batchSize = 1000
/** Ids are listed for so many batches at once. */
const batchesPerList = 20

const tables = { waypost_token_family: 'id', waypost_token: 'jti' } as const
type Table = keyof typeof tables

/**
 * Revokes most of the access of a user or client before the transaction that ends all of it, so that this one is short and
 * others do not wait for 100,000 rows. Check first that the caller may end it. If it is interrupted, the next call continues.
 * @param except a family, and a token, that stay valid
 * @returns the number of revoked access tokens
 */
export function revokeInBatches(
  system: System,
  {
    of,
    now,
    except = {},
    ...batches
  }: Batches & {
    readonly of: AccessSubject
    readonly now: number
    readonly except?: { readonly familyId?: string | null; readonly jti?: string }
  },
): Promise<number> {
  const [column, value] = 'userId' in of ? ['user_id', of.userId] : ['client_id', of.clientId]
  const isOf = sql<boolean>`${sql.ref(column)} = ${value}`
  return revokeEach(system, now, {
    ...batches,
    families: sql<boolean>`${isOf} and id <> ${except.familyId ?? ''}`,
    tokens: sql<boolean>`${isOf} and jti <> ${except.jti ?? ''} and expires_at > ${now}`,
  })
}

/** The same for all access, before a transaction that revokes the rest. */
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
}

/** Families before tokens, as in `endAccess`. */
async function revokeEach(
  system: System,
  now: number,
  { families, tokens: ofTokens, revokesLast = false, size = batchSize, onBatch }: Chosen,
): Promise<number> {
  let tokens = 0
  const steps = [['waypost_token_family', families] as const, ['waypost_token', ofTokens] as const]
  for (const [table, isChosen] of steps) {
    if (isChosen === undefined) continue
    const length = size * batchesPerList
    for (let isFull = true; isFull;) {
      const ids = await listIds(system, { table, isChosen, limit: length })
      if (ids.length <= (revokesLast ? 0 : size)) break
      let changed = 0
      for (let begin = 0; begin < ids.length; begin += size) {
        const count = await revokeRows(system, table, { ids: ids.slice(begin, begin + size), now })
        changed += count
        if (table === 'waypost_token') tokens += count
        onBatch?.(tokens)
      }
      isFull = ids.length === length && changed > 0
    }
  }
  return tokens
}

async function listIds(
  system: System,
  { table, isChosen, limit }: { table: Table; isChosen: RawBuilder<boolean>; limit: number },
): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`select ${sql.ref(tables[table])} as id from ${sql.table(table)}
    where revoked_at is null and ${isChosen} limit ${sql.lit(limit)}`.execute(system.db)
  return rows.map(({ id }) => id)
}

/** Does not wait for rows that others have locked: the transaction of the caller does. */
async function revokeRows(
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
