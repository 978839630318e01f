import type { Transaction } from 'kysely'
import type { SystemTables } from '../store/index.ts'
import { findEvent, mayReceive, type EventCatalog } from './catalog.ts'

/** The row of a delivery under a fresh claim. */
export interface TakenRow {
  readonly id: string
  /** By the database's clock. */
  readonly claimed_at: number
}

/** A claimed delivery with what belongs to it. */
export interface ClaimedRow {
  readonly id: string
  readonly failures: number
  readonly lost: number
  readonly event: string
  /** The exact text of the body. */
  readonly data: string
  readonly subscriptionId: string
  /** What the breaker of the subscription counts. */
  readonly subscriptionFailures: number
  readonly endpoint: string
  readonly revision: number
  /** Sealed. */
  readonly secret: string
  /** Sealed: those that sign too, for a while. */
  readonly previousSecrets: string | null
  readonly claimedAt: number
}

/** Claimed deliveries, by what is to become of them. */
export interface SortedClaims {
  readonly toPost: readonly ClaimedRow[]
  /** Their subscription was paused meanwhile. */
  readonly toKeep: readonly ClaimedRow[]
  /** Nobody is there, or allowed, to receive them. */
  readonly toCancel: readonly ClaimedRow[]
}

interface Candidate extends ClaimedRow {
  readonly status: 'active' | 'paused' | 'disabled' | null
  /** Undefined for who is not active. */
  readonly userId: string | undefined
  /** The event that the subscription names; a test of it carries another one. */
  readonly subscribed: string
}

/** Loads what was claimed. Who may receive it was asked at fan-out; somebody may have lost a scope since then. */
export async function loadClaimed(
  trx: Transaction<SystemTables>,
  taken: readonly TakenRow[],
  catalog: EventCatalog,
): Promise<SortedClaims> {
  const rows = await loadRows(trx, taken)
  const granted = await loadScopes(trx, rows, catalog)
  const isAllowed = ({ status, userId, subscribed }: Candidate) =>
    status === 'active' &&
    userId !== undefined &&
    mayReceive(findEvent(catalog, subscribed) ?? {}, granted.get(userId) ?? [])
  return {
    toPost: rows.filter(isAllowed),
    toKeep: rows.filter((row) => row.status === 'paused'),
    toCancel: rows.filter((row) => row.status !== 'paused' && !isAllowed(row)),
  }
}

async function loadRows(trx: Transaction<SystemTables>, taken: readonly TakenRow[]): Promise<Candidate[]> {
  const rows = await trx
    .selectFrom('waypost_delivery as delivery')
    .leftJoin('waypost_message as message', 'message.id', 'delivery.message_id')
    .leftJoin('waypost_subscription as subscription', 'subscription.id', 'delivery.subscription_id')
    .leftJoin('waypost_user as user', 'user.id', 'subscription.user_id')
    .select(['delivery.id', 'delivery.failures', 'delivery.lost', 'delivery.subscription_id as subscriptionId'])
    .select(['message.event', 'message.data', 'subscription.endpoint', 'subscription.revision', 'subscription.secret'])
    .select(['subscription.event as subscribed', 'subscription.failures as subscriptionFailures'])
    .select(['subscription.previous_secrets as previousSecrets', 'subscription.status'])
    .select(['user.id as userId', 'user.status as userStatus'])
    .where(
      'delivery.id',
      'in',
      taken.map((row) => row.id),
    )
    .orderBy('delivery.due_at')
    .orderBy('delivery.id')
    .execute()
  const times = new Map(taken.map((row) => [row.id, row.claimed_at]))
  return rows.map(({ event, data, endpoint, revision, secret, userId, userStatus, ...row }) => ({
    ...row,
    subscribed: row.subscribed ?? '',
    subscriptionFailures: row.subscriptionFailures ?? 0,
    event: event ?? '',
    data: data ?? '',
    endpoint: endpoint ?? '',
    revision: revision ?? 0,
    secret: secret ?? '',
    claimedAt: times.get(row.id)!,
    userId: data !== null && userId !== null && userStatus === 'active' ? userId : undefined,
  }))
}

/** The scopes of those who need one. */
async function loadScopes(
  trx: Transaction<SystemTables>,
  rows: readonly Candidate[],
  catalog: EventCatalog,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const guarded = rows.filter((row) => !mayReceive(findEvent(catalog, row.subscribed) ?? {}, []))
  const users = new Set(guarded.map((row) => row.userId).filter((id) => id !== undefined))
  const granted = new Map<string, string[]>([...users].map((id) => [id, []]))
  if (users.size === 0) return granted
  const scopes = await trx
    .selectFrom('waypost_user_scope')
    .selectAll()
    .where('user_id', 'in', [...users])
    .execute()
  for (const { user_id: id, scope } of scopes) granted.get(id)?.push(scope)
  return granted
}
