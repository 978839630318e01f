import type { System } from '../../store/index.ts'
import { isPassedOn } from '../expressions.ts'
import { findEvent, mayReceive, usualScope, type EventCatalog } from '../message/catalog.ts'

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

/** What says whether it may be posted. */
export interface LoadedRow extends ClaimedRow {
  readonly status: 'active' | 'paused' | 'disabled' | null
  /** Null where the user, or the client that subscribed, is not active. */
  readonly userId: string | null
  /** Whether it has the scope that events without scopes ask for: 1 if so. */
  readonly isUsual: number
  /** The event that the subscription names; a test of it carries another one. */
  readonly subscribed: string
}

/** Sorts what was claimed. Who may receive it was asked at fan-out; a user or a client may have lost a scope since then. */
export async function sortClaims(
  system: System,
  rows: readonly LoadedRow[],
  catalog: EventCatalog,
): Promise<SortedClaims> {
  const granted = await loadScopes(system, rows, catalog)
  const isAllowed = (row: LoadedRow) =>
    row.status === 'active' &&
    row.userId !== null &&
    mayReceive(findEvent(catalog, row.subscribed) ?? {}, granted.get(row.subscriptionId) ?? usualOf(row))
  return {
    toPost: rows.filter(isAllowed),
    toKeep: rows.filter((row) => row.status === 'paused'),
    toCancel: rows.filter((row) => row.status !== 'paused' && !isAllowed(row)),
  }
}

function usualOf({ isUsual }: LoadedRow): readonly string[] {
  return isUsual === 1 ? [usualScope] : []
}

/** All scopes of those subscriptions that the usual one, or that they have it, does not let in: most need no statement. */
async function loadScopes(
  system: System,
  rows: readonly LoadedRow[],
  catalog: EventCatalog,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const guarded = rows.filter((row) => !mayReceive(findEvent(catalog, row.subscribed) ?? {}, usualOf(row)))
  const ids = new Set(guarded.filter((row) => row.userId !== null).map((row) => row.subscriptionId))
  const scopes = new Map<string, string[]>([...ids].map((id) => [id, []]))
  if (ids.size === 0) return scopes
  const granted = await system.db
    .selectFrom('waypost_subscription as s')
    .innerJoin('waypost_user_scope as granted', 'granted.user_id', 's.user_id')
    .leftJoin('waypost_client as maker', 'maker.id', 's.client_id')
    .select(['s.id', 'granted.scope'])
    .where('s.id', 'in', [...ids])
    .where(isPassedOn(system))
    .execute()
  for (const { id, scope } of granted) scopes.get(id)?.push(scope)
  return scopes
}
