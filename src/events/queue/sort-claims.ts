import type { System } from '../../store/index.ts'
import { isScopeEffective } from '../expressions.ts'
import { findEvent, mayReceive, defaultScope, type EventCatalog } from '../message/catalog.ts'

/** A claimed delivery with its message and subscription. */
export interface ClaimedRow {
  readonly id: string
  readonly failures: number
  readonly lost: number
  readonly event: string
  /** The exact text of the request body. */
  readonly data: string
  readonly subscriptionId: string
  /** The consecutive failures that the breaker of the subscription has counted. */
  readonly subscriptionFailures: number
  readonly endpoint: string
  readonly revision: number
  /** Encrypted. */
  readonly secret: string
  /** Encrypted: the previous secrets, which also sign until they expire. */
  readonly previousSecrets: string | null
  readonly claimedAt: number
}

/** Claimed deliveries, sorted by what happens to them. */
export interface SortedClaims {
  readonly toPost: readonly ClaimedRow[]
  /** Their subscription was paused after they were found. */
  readonly toRelease: readonly ClaimedRow[]
  /** Their subscriber is deleted, disabled, or no longer allowed to receive the event. */
  readonly toCancel: readonly ClaimedRow[]
}

/** The data that determines whether a delivery may be posted. */
export interface LoadedRow extends ClaimedRow {
  readonly status: 'active' | 'paused' | 'disabled' | null
  /** Null if the user, or the client that subscribed, is not active. */
  readonly userId: string | null
  /** 1 if the subscription has the default scope, which events without `scopes` require. */
  readonly hasDefaultScope: number
  /** The event of the subscription. A test delivery has a message with another event. */
  readonly subscribed: string
}

/**
 * Sorts claimed deliveries. Scopes were checked at fan-out and are checked again, because a user or client may have
 * lost one.
 */
export async function sortClaims(
  system: System,
  rows: readonly LoadedRow[],
  catalog: EventCatalog,
): Promise<SortedClaims> {
  const granted = await loadScopes(system, rows, catalog)
  const isAllowed = (row: LoadedRow) =>
    row.status === 'active' &&
    row.userId !== null &&
    mayReceive(findEvent(catalog, row.subscribed) ?? {}, granted.get(row.subscriptionId) ?? defaultScopesOf(row))
  return {
    toPost: rows.filter(isAllowed),
    toRelease: rows.filter((row) => row.status === 'paused'),
    toCancel: rows.filter((row) => row.status !== 'paused' && !isAllowed(row)),
  }
}

function defaultScopesOf({ hasDefaultScope }: LoadedRow): readonly string[] {
  return hasDefaultScope === 1 ? [defaultScope] : []
}

/** Loads all scopes of the subscriptions that the default scope does not admit. Most batches need no query. */
async function loadScopes(
  system: System,
  rows: readonly LoadedRow[],
  catalog: EventCatalog,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const guarded = rows.filter((row) => !mayReceive(findEvent(catalog, row.subscribed) ?? {}, defaultScopesOf(row)))
  const ids = new Set(guarded.filter((row) => row.userId !== null).map((row) => row.subscriptionId))
  const scopes = new Map<string, string[]>([...ids].map((id) => [id, []]))
  if (ids.size === 0) return scopes
  const granted = await system.db
    .selectFrom('waypost_subscription as s')
    .innerJoin('waypost_user_scope as granted', 'granted.user_id', 's.user_id')
    .leftJoin('waypost_client as creator', 'creator.id', 's.client_id')
    .select(['s.id', 'granted.scope'])
    .where('s.id', 'in', [...ids])
    .where(isScopeEffective(system))
    .execute()
  for (const { id, scope } of granted) scopes.get(id)?.push(scope)
  return scopes
}
