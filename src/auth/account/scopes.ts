import { errors } from '../errors.ts'
import type { System } from '../../store/index.ts'

/** The scope of the consumer endpoints. */
export const consumerScope = 'consumer'
/** Scopes of administration; `user:add --admin` grants all of them. None includes another. */
export const backendScopes = [
  'backend.read',
  'backend.operate',
  'backend.write',
  'backend.data',
  'backend.deploy',
  'backend.admin',
] as const

/** Whether a scope is one of administration, including those of later versions. */
export function isBackendScope(scope: string): boolean {
  return scope.startsWith('backend.')
}

// RFC 6749 §3.3 allows NQCHAR without space, quote and backslash; here, a comma separates scopes.
const scopeToken = /^[\x21\x23-\x2B\x2D-\x5B\x5D-\x7E]{1,128}$/

/** Requested scopes and their separator. */
export interface RequestedScopes {
  readonly scopes: readonly string[]
  readonly separator: ' ' | ','
}

/**
 * Parses a scope parameter separated by commas or spaces, and removes duplicates. A parameter without names counts as
 * absent.
 * @returns undefined if a name is invalid
 */
export function parseScopes(text: string): RequestedScopes | undefined {
  const scopes = [...new Set(text.split(/[, ]+/).filter((scope) => scope !== ''))]
  if (!scopes.every((scope) => scopeToken.test(scope))) return undefined
  return { scopes, separator: text.includes(',') ? ',' : ' ' }
}

/** Checks scopes that an administrator entered. @throws WP_AUTH_SCOPE_NAME */
export function checkScopes(scopes: readonly string[]): readonly string[] {
  for (const scope of scopes) if (!scopeToken.test(scope)) throw errors.WP_AUTH_SCOPE_NAME({ scope })
  return [...new Set(scopes)]
}

export function splitScopes(text: string): readonly string[] {
  return text === '' ? [] : text.split(' ')
}

export function intersect(scopes: readonly string[], others: readonly string[]): readonly string[] {
  const allowed = new Set(others)
  return scopes.filter((scope) => allowed.has(scope))
}

export interface ScopeCount {
  readonly users: number
  readonly clients: number
}

/** Counts the users and clients of each scope in use. */
export async function countScopes({ db }: System): Promise<ReadonlyMap<string, ScopeCount>> {
  const [users, clients] = await Promise.all([
    db
      .selectFrom('waypost_user_scope')
      .select((column) => ['scope', column.fn.countAll<number>().as('count')])
      .groupBy('scope')
      .execute(),
    db
      .selectFrom('waypost_client_scope')
      .select((column) => ['scope', column.fn.countAll<number>().as('count')])
      .groupBy('scope')
      .execute(),
  ])
  const counts = new Map<string, ScopeCount>()
  for (const { scope, count } of users) counts.set(scope, { users: count, clients: 0 })
  for (const { scope, count } of clients) counts.set(scope, { users: counts.get(scope)?.users ?? 0, clients: count })
  return counts
}

/** Counts the active users, and the active clients, that have at least one of these scopes. */
export async function countHolders({ db }: Pick<System, 'db'>, scopes: readonly string[]): Promise<ScopeCount> {
  const [users, clients] = await Promise.all([
    db
      .selectFrom('waypost_user_scope as held')
      .innerJoin('waypost_user as user', 'user.id', 'held.user_id')
      .select((column) => column.fn.count<number>('held.user_id').distinct().as('count'))
      .where('held.scope', 'in', scopes)
      .where('user.status', '=', 'active')
      .executeTakeFirstOrThrow(),
    db
      .selectFrom('waypost_client_scope as held')
      .innerJoin('waypost_client as client', 'client.id', 'held.client_id')
      .select((column) => column.fn.count<number>('held.client_id').distinct().as('count'))
      .where('held.scope', 'in', scopes)
      .where('client.status', '=', 'active')
      .executeTakeFirstOrThrow(),
  ])
  return { users: users.count, clients: clients.count }
}

/** Returns the scopes that no active user has, so that no token can carry them. */
export async function findUnheldScopes({ db }: System, scopes: readonly string[]): Promise<readonly string[]> {
  if (scopes.length === 0) return []
  const rows = await db
    .selectFrom('waypost_user_scope as held')
    .innerJoin('waypost_user as user', 'user.id', 'held.user_id')
    .select('held.scope')
    .where('user.status', '=', 'active')
    .distinct()
    .execute()
  const held = new Set(rows.map(({ scope }) => scope))
  return scopes.filter((scope) => !held.has(scope))
}
