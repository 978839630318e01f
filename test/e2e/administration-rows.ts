// What commands of administration find in System: a release, sessions and codes.
import { sha256, version } from '../../src/kit/index.ts'
import type { Manifest } from '../../src/release/index.ts'
import type { NewSystem } from './new-system.ts'

/** Somebody is logged in as ann on the pages of the authorization endpoint. */
export async function addSession({ host: { system } }: NewSystem): Promise<void> {
  const { id } = await system.db
    .selectFrom('waypost_user')
    .select('id')
    .where('name', '=', 'ann')
    .executeTakeFirstOrThrow()
  const now = Date.now()
  const session = { hash: sha256(String(Math.random())), user_id: id, password_check: '', created_at: now }
  await system.db
    .insertInto('waypost_session')
    .values({ ...session, password_at: now, expires_at: now + 60_000 })
    .execute()
}

/** A code of ann's for a client waits to be redeemed. */
export async function addCode({ host: { system } }: NewSystem, clientId: string): Promise<void> {
  const { id } = await system.db
    .selectFrom('waypost_user')
    .select('id')
    .where('name', '=', 'ann')
    .executeTakeFirstOrThrow()
  const code = { hash: sha256(String(Math.random())), client_id: clientId, user_id: id, redirect_uri: '', scope: '' }
  await system.db
    .insertInto('waypost_code')
    .values({
      ...code,
      separator: ' ',
      challenge: '',
      created_at: Date.now(),
      expires_at: Date.now() + 60_000,
      used_at: null,
      family_id: null,
    })
    .execute()
}

export async function countCodes({ host: { system } }: NewSystem): Promise<number> {
  return (await system.db.selectFrom('waypost_code').select('hash').execute()).length
}

/** Nothing is served of it: `scope:list` reads what it says. */
export function makeRelease() {
  const action = { class: 'none', config: {} }
  const method = { method: 'GET', public: false, responses: {}, action }
  const manifest: Manifest = {
    format: 2,
    waypost: version,
    routes: [
      {
        path: '/todo',
        methods: [
          { ...method, scopes: ['todo'] },
          { ...method, method: 'POST', scopes: ['todo'] },
        ],
      },
      {
        path: '/order',
        methods: [
          { ...method, scopes: ['order'] },
          { ...method, method: 'PUT', public: true, scopes: ['order'] },
        ],
      },
    ],
    schemas: {},
    connections: {},
    events: { ordered: { scopes: ['order'] } },
    scopes: { todo: { description: 'To-dos' }, order: {} },
    cronjobs: {},
    rates: {},
    config: {},
    plugins: [],
    variables: {},
    migrations: [],
    artifacts: {},
  }
  return { manifest, artifacts: [] }
}
