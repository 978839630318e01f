// Users, clients and tokens whose names lists and pages must withstand.
import { addClient, addUser } from '../../src/auth/index.ts'
import type { Host } from '../../src/host/index.ts'
import { findHostUser } from '../../src/operate/index.ts'

export const attack = '"><img src=x onerror=alert(1)>'

/** A name that is wider than a column. */
export const long = (name: string) => `${name}-of-the-integration-platform-of-a-company-with-a-long-name`

/** Adds a user, a client and a token with long names and many scopes. */
export async function addLongNames(host: Host): Promise<void> {
  const scopes = Array.from({ length: 20 }, (_, index) => `inventory.warehouse.${index}.write`)
  await addUser(host.system, {
    name: long('user'),
    email: `${long('mail')}@department.example.com`,
    scopes: ['todo'],
  })
  const { id: user_id } = await findHostUser(host, long('user'))
  await host.system.db
    .insertInto('waypost_user_scope')
    .values(scopes.map((scope) => ({ user_id, scope })))
    .execute()
  const own = { public: false, redirectUris: [], grants: ['client_credentials' as const] }
  const { id } = await addClient(host.system, { ...own, user: long('user'), name: long('client'), scopes: ['todo'] })
  await host.system.db
    .insertInto('waypost_client_scope')
    .values(scopes.map((scope) => ({ client_id: id, scope })))
    .execute()
  await host.system.db
    .insertInto('waypost_token')
    .values({ jti: id, user_id, client_id: id, scope: scopes.join(' '), created_at: 0, expires_at: Date.now() * 2 })
    .execute()
}

/** Adds a user and a client that are named like HTML. @returns the id of the client */
export async function addAttacks(host: Host): Promise<string> {
  await addUser(host.system, { name: 'eve', email: attack, scopes: ['todo'] })
  await host.system.db.updateTable('waypost_user').set({ name: attack }).where('name', '=', 'eve').execute()
  await host.system.db
    .insertInto('waypost_user_scope')
    .values({ user_id: (await findHostUser(host, 'ann')).id, scope: '<img/src=x/onerror=alert(1)>' })
    .execute()
  const parts = {
    user: 'ann',
    scopes: ['todo'],
    redirectUris: ["https://x.example/'onerror=alert(1)//"],
    public: false,
  }
  const { id } = await addClient(host.system, {
    ...parts,
    name: attack,
    grants: ['authorization_code', 'client_credentials'],
  })
  return id
}
