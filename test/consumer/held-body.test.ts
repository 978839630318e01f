import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { after, before, describe, test } from 'node:test'
import { holdBody } from '../support/hold-body.ts'
import { chooseKinds } from '../support/forms.ts'
import { bearer } from '../support/server.ts'
import { openWorld, password, type World } from '../auth/world.ts'

const newPassword = 'a better horse battery'

for (const kind of chooseKinds('sqlite')) {
  describe(`a request whose token is revoked while it runs, ${kind}`, () => {
    let world: World
    before(async () => {
      world = await openWorld(kind)
    })
    after(() => world.close())

    const logIn = async (word: string): Promise<string> =>
      (await world.send('POST /consumer/login', { json: { username: 'ann', password: word } })).body.token

    test('is rejected if its body arrives later', async () => {
      const stolen = await logIn(password)
      const own = await logIn(password)
      const held = [
        { line: 'POST /consumer/client', json: { name: 'Backup', scopes: ['todo'] } },
        { line: 'POST /consumer/token', json: { scopes: ['todo'] } },
        { line: 'PATCH /consumer/account', json: { email: 'thief@example.com' } },
      ].map((one) => holdBody(world.url, { ...one, token: stolen }))
      await pause(200) // until the server has read the headers; if it has not, the test only proves less
      const { status } = await world.send('PUT /consumer/account/password', {
        headers: bearer(own),
        json: { old: password, new: newPassword },
      })
      assert.equal(status, 204)
      for (const finish of held) assert.equal((await finish()).status, 401)
    })

    test('writes nothing if the guard has accepted it before', async () => {
      const { db } = world.system
      const headers = bearer(await logIn(newPassword))
      const made = await world.send('POST /consumer/client', { headers, json: { name: 'Backup', scopes: ['todo'] } })
      assert.equal(made.status, 201)
      const readAll = async () => ({
        users: await db.selectFrom('waypost_user').selectAll().orderBy('id').execute(),
        clients: await db.selectFrom('waypost_client').selectAll().orderBy('id').execute(),
        scopes: await db.selectFrom('waypost_client_scope').selectAll().orderBy('client_id').orderBy('scope').execute(),
        tokens: await db.selectFrom('waypost_token').select(['jti', 'revoked_at']).orderBy('jti').execute(),
      })
      // As on another server that has not heard of it yet: revoked in System, and no word in the feed.
      await db.updateTable('waypost_token').set({ revoked_at: 1 }).execute()
      const before = await readAll()
      const { id } = made.body
      const lines: readonly [line: string, json?: unknown][] = [
        ['POST /consumer/client', { name: 'Second', scopes: ['todo'] }],
        [`PATCH /consumer/client/${id}`, { name: 'Other' }],
        [`PATCH /consumer/client/${id}`, { status: 'disabled' }],
        [`POST /consumer/client/${id}/secret`],
        [`POST /consumer/client/${id}/secret`, { revoke_tokens: true }],
        [`DELETE /consumer/client/${id}`],
        ['POST /consumer/token', { scopes: ['todo'] }],
        ['PATCH /consumer/account', { email: 'thief@example.com' }],
        ['PUT /consumer/account/password', { old: newPassword, new: 'the password of a thief', end_clients: true }],
      ]
      for (const [line, json] of lines) {
        const answer = await world.send(line, { headers, ...(json === undefined ? {} : { json }) })
        assert.equal(answer.status, 401, `${line}: ${answer.text}`)
        assert.match(answer.text, /revoked during the request/, line)
        assert.match(answer.headers.get('www-authenticate') ?? '', /error="invalid_token"/, line)
      }
      assert.deepEqual(await readAll(), before)
      assert.equal((await world.send('GET /consumer/account', { headers })).status, 200) // the guard still accepts it
    })
  })
}
