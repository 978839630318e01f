import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { addClient, addUser } from '../../src/auth/index.ts'
import type { System } from '../../src/store/index.ts'
import { actionFile, describeEachSystem, openProjectServer } from '../support/project-server.ts'
import { send } from '../support/send.ts'
import { basic } from '../support/server.ts'

const files = {
  'waypost.yml': `routes:
  /note: { methods: { POST: { public: true, action: src/note.ts, response: { type: object } } } }
`,
  'src/note.ts': actionFile(
    `await context.connection('System').insertInto('app_note').values({ text: 'x'.repeat(20_000) }).execute(); return {}`,
  ),
}

/**
 * Fills the disk. On SQLite the file may not grow; PostgreSQL gets its own error for a file that cannot be extended.
 * @returns a function that undoes it
 */
async function fill({ kind, db, transaction }: System): Promise<() => Promise<unknown>> {
  if (kind === 'sqlite') {
    const limit = (pages: number) => transaction((trx) => sql.raw(`pragma max_page_count = ${pages}`).execute(trx))
    const { rows } = await sql<{ page_count: number }>`pragma page_count`.execute(db)
    await limit(rows[0]!.page_count)
    return () => limit(1_000_000)
  }
  await sql`create function refuse() returns trigger language plpgsql as $$ begin
    raise exception 'could not extend file "base/1/2": No space left on device' using errcode = '53100';
  end $$`.execute(db)
  for (const table of ['app_note', 'waypost_token']) {
    await sql`create trigger refuse before insert on ${sql.table(table)} execute function refuse()`.execute(db)
  }
  return () => sql`drop function refuse() cascade`.execute(db)
}

describeEachSystem('a full disk', ({ newSystem }) => {
  test('is 503 and a warning, for routes and for the endpoints of OAuth2; then all is as before', async () => {
    await using server = await openProjectServer({ files, systemUrl: await newSystem() })
    const { system } = server.host
    await sql`create table app_note (text text)`.execute(system.db)
    await addUser(system, { name: 'ann', scopes: ['todo'] })
    const grants = ['client_credentials']
    const client = { name: 'app', user: 'ann', scopes: ['todo'], grants, redirectUris: [], public: false }
    const { id, secret = '' } = await addClient(system, client)
    const store = () => send(server.port, { path: '/note', method: 'POST', body: {} })
    const issue = () =>
      send(server.port, {
        path: '/authorization/token',
        headers: { ...basic(id, secret), 'content-type': 'application/x-www-form-urlencoded' },
        body: 'grant_type=client_credentials',
      })
    assert.deepEqual([(await store()).status, (await issue()).status], [200, 200])
    const before = server.logs.length
    const free = await fill(system)
    const refused = await store()
    assert.equal(refused.status, 503, refused.text)
    assert.equal(refused.body.type, 'urn:waypost:errors#WP_STORE_FULL')
    assert.match(refused.headers['retry-after'] ?? '', /^\d+$/)
    let issued = await issue()
    // As long as pages have free space
    for (let count = 0; issued.status === 200 && count < 5000; count++) issued = await issue()
    assert.equal(issued.status, 503, issued.text)
    assert.equal(issued.body.error, 'temporarily_unavailable')
    const serious = server.logs.slice(before).filter(({ level }) => Number(level) >= 40)
    assert.deepEqual(
      serious.map(({ level, msg }) => [level, msg]),
      [
        [40, 'external system failed'],
        [40, 'authorization request failed'],
      ],
    )
    assert.match(JSON.stringify(serious), /The disk of the database .* is full/)
    assert.equal((await send(server.port, { path: '/health/ready' })).status, 200)
    await free()
    assert.deepEqual([(await store()).status, (await issue()).status], [200, 200])
  })
})
