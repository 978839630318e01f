import { isBackendScope } from '../auth/index.ts'
import type { Actor, System } from '../store/index.ts'
import { errors } from './errors.ts'

/**
 * Checks that an actor may grant scopes: administrators any scope of the project, also to themselves, and of those of
 * administration only what their token has. Commands may grant all.
 * @throws WP_SERVER_GRANT
 */
export function assertMayGrant(actor: Actor, scopes: readonly string[]): void {
  const missing = findMissing(actor, scopes)
  if (missing !== undefined) throw errors.WP_SERVER_GRANT({ scopes: missing })
}

/**
 * Checks that an actor may take over what has these scopes: with a new password or secret, the actor could use them.
 * @param name of the user or client
 * @throws WP_SERVER_CONTROL
 */
export function assertMayControl(actor: Actor, { name, scopes }: { name: string; scopes: readonly string[] }): void {
  const missing = findMissing(actor, scopes)
  if (missing !== undefined) throw errors.WP_SERVER_CONTROL({ name, scopes: missing })
}

function findMissing(actor: Actor, scopes: readonly string[]): string | undefined {
  if (actor.how === 'command') return undefined
  const missing = scopes.filter((scope) => isBackendScope(scope) && !actor.scopes.includes(scope))
  return missing.length === 0 ? undefined : missing.slice(0, 10).join(', ')
}

/** Loads the ids of the active users with `backend.admin`. Concurrent changes of administrators wait for each other. */
export async function lockAdministrators(system: System): Promise<readonly string[]> {
  const rows = await system.db
    .selectFrom('waypost_user as user')
    .select('user.id')
    .where('user.status', '=', 'active')
    .where('user.id', 'in', (column) =>
      column.selectFrom('waypost_user_scope').select('user_id').where('scope', '=', 'backend.admin'),
    )
    .orderBy('user.id')
    .$if(system.kind === 'postgresql', (query) => query.forUpdate())
    .execute()
  return rows.map(({ id }) => id)
}

/**
 * Checks at the end of a change that an administrator is left. Commands may remove the last one, because they can also
 * add one.
 * @param before from `lockAdministrators`, before the change
 * @returns whether the change removed the last administrator
 * @throws WP_SERVER_LAST_ADMINISTRATOR
 */
export async function checkAdministrators(
  system: System,
  actor: Actor,
  { name, before }: { readonly name: string; readonly before: readonly string[] },
): Promise<boolean> {
  const isLast = before.length > 0 && (await lockAdministrators(system)).length === 0
  if (isLast && actor.how === 'http') throw errors.WP_SERVER_LAST_ADMINISTRATOR({ name })
  return isLast
}
