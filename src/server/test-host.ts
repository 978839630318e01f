import { addUser, addUserScopes, loadUserScopes, loginClientId } from '../auth/index.ts'
import { executeEvents, makeSubscriptions, scopesOf } from '../events/index.ts'
import { userAgent } from '../kit/index.ts'
import { migrateSystem, storeFact } from '../store/index.ts'
import { type Host, openIdentity } from '../host/index.ts'
import type { WaypostServer } from './start-server.ts'

/** Prepares a new System for development, with Waypost's own tables. For tests with a System of their own. */
export async function prepareTestHost(host: Host): Promise<void> {
  await migrateSystem(host.system)
  await storeFact(host.system, 'origin', 'development')
}

/** Ensures a user with this name and at least these scopes. @returns its id */
export async function ensureTestUser(
  { host }: Pick<WaypostServer, 'host'>,
  name: string,
  scopes: readonly string[],
): Promise<void> {
  await findOrAdd(host, name, scopes)
}

/** Subscribes an endpoint to events as a user with every required scope. @returns the id of the user */
export async function subscribeTestUser(
  server: WaypostServer,
  { user, events, endpoint }: { user: string; events: readonly string[]; endpoint: string },
): Promise<string> {
  const { catalog } = server.terms()
  const scopes = [...new Set(events.flatMap((event) => scopesOf(catalog[event] ?? {})))]
  const id = await findOrAdd(server.host, user, scopes)
  const { secrets } = await openIdentity(server.host)
  const subscriptions = makeSubscriptions({
    system: server.host.system,
    secrets,
    outbound: server.outbound,
    catalog: () => server.terms().catalog,
    settings: () => server.terms().settings,
  })
  const by = { id, scopes, client: { id: loginClientId, isLogin: true } }
  for (const event of events) await subscriptions.subscribe(by, { event, endpoint })
  return id
}

/**
 * Delivers all due events with the complete delivery machinery.
 * @param user id of a user who also receives messages for specific users
 */
export async function deliverTestEvents(server: WaypostServer, user?: string): Promise<void> {
  const { secrets } = await openIdentity(server.host)
  if (user !== undefined) await addRecipient(server.host, user)
  await executeEvents({
    system: server.host.system,
    secrets,
    outbound: server.outbound,
    clock: server.host.clock,
    userAgent,
    catalog: () => server.terms().catalog,
    settings: () => server.terms().settings,
  })
}

/** If another call has already fanned out a message, this repeats it; other users are not affected. */
async function addRecipient({ system: { db } }: Host, user: string): Promise<void> {
  const named = db.selectFrom('waypost_message').select(['id', 'users']).where('users', 'is not', null)
  for (const { id, users } of await named.where('users', 'not like', `%"${user}"%`).execute()) {
    const all = JSON.stringify([...(JSON.parse(users ?? '[]') as string[]), user])
    const again = { users: all, fanned_out_at: null, fan_cursor: null }
    await db.updateTable('waypost_message').set(again).where('id', '=', id).execute()
  }
}

async function findOrAdd({ system }: Host, name: string, scopes: readonly string[]): Promise<string> {
  const row = await system.db.selectFrom('waypost_user').select('id').where('name', '=', name).executeTakeFirst()
  if (row === undefined) return (await addUser(system, { name, scopes })).id
  const owned = await loadUserScopes(system.db, row.id)
  await addUserScopes(
    system,
    row.id,
    scopes.filter((scope) => !owned.includes(scope)),
  )
  return row.id
}
