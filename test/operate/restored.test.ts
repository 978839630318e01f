import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { addUser, issueTokens, loginClientId, openKeyRing, openTokenIssuer } from '../../src/auth/index.ts'
import { defaultSettings } from '../../src/kit/index.ts'
import { changeHostUserStatus, declareRestored, revokeHostTokens } from '../../src/operate/index.ts'
import { openIdentity } from '../../src/host/index.ts'
import { entities } from '../../src/store/entities.ts'
import type { System } from '../../src/store/index.ts'
import { asCommand, bearer, startTestServer, type TestServer } from '../support/server.ts'
import { until } from '../support/until.ts'
import { chooseKinds } from '../support/forms.ts'

type Rows = ReadonlyMap<string, readonly object[]>

/** All rows of System, as a backup. */
async function backUp({ db }: System): Promise<Rows> {
  const tables = entities.map(({ meta }) => meta.tableName as 'waypost_system')
  return new Map(
    await Promise.all(tables.map(async (name) => [name, await db.selectFrom(name).selectAll().execute()] as const)),
  )
}

/** Restores a backup into the same database while servers run. */
async function restore(system: System, backup: Rows): Promise<void> {
  await system.transaction(async (trx) => {
    for (const [name, rows] of backup) {
      const table = name as 'waypost_system'
      await trx.deleteFrom(table).execute()
      if (rows.length > 0)
        await trx
          .insertInto(table)
          .values(rows as never)
          .execute()
    }
  })
}

for (const kind of chooseKinds('postgresql')) {
  describe(`a restored backup on ${kind}`, () => {
    let server: TestServer
    let second: TestServer
    let system: System
    before(async () => {
      server = await startTestServer({ kind })
      second = await server.startSecond()
      system = server.host.system
      await addUser(system, { name: 'ann', scopes: ['todo'] })
    })
    after(async () => {
      await second.close()
      await server.close()
    })

    const issue = async () => {
      const user = await system.db.selectFrom('waypost_user').select('id').executeTakeFirstOrThrow()
      const { secrets, issuer } = await openIdentity(server.host)
      const keys = await openKeyRing(system, secrets)
      const signer = { system, keys, secrets, issuer, clock: server.clock, settings: () => defaultSettings }
      const grantee = { userId: user.id, clientId: loginClientId, scopes: ['todo'] }
      return issueTokens(openTokenIssuer(signer), grantee, { refresh: false })
    }
    const ask = async (one: TestServer, token: string) =>
      (await one.send('GET /todo', { headers: bearer(token) })).status
    const declare = (revokeTokens = false) =>
      declareRestored(asCommand(server.host), { revokeTokens, confirm: () => Promise.resolve(true) })
    const refusedBy = (one: TestServer, token: string) =>
      until('it is refused', async () => (await ask(one, token)) === 401)

    test('cache entries of a server from after the backup are invalid', async () => {
      const backup = await backUp(system)
      const later = await issue() // not recorded in the feed
      assert.deepEqual([await ask(server, later.accessToken), await ask(second, later.accessToken)], [200, 200])
      await restore(system, backup)
      await declare()
      await refusedBy(server, later.accessToken)
      await refusedBy(second, later.accessToken)
    })

    test('a token that was revoked after the backup is valid again in the restored System', async () => {
      const token = await issue()
      await ask(second, token.accessToken)
      const backup = await backUp(system)
      await revokeHostTokens(asCommand(server.host), { jti: token.jti })
      await refusedBy(second, token.accessToken)
      await restore(system, backup)
      const restored = await declare()
      assert.equal(restored?.tokens, 1)
      await until('it is let in', async () => (await ask(second, token.accessToken)) === 200)
      assert.equal(await ask(server, token.accessToken), 200)
    })

    test('a revocation after the restoring reaches every server, though its position was given out before', async () => {
      const token = await issue()
      const backup = await backUp(system)
      await changeHostUserStatus(asCommand(server.host), { name: 'ann', status: 'disabled' })
      await restore(system, backup)
      await declare()
      await until('it is let in', async () => (await ask(second, token.accessToken)) === 200)
      await revokeHostTokens(asCommand(server.host), { user: 'ann' })
      await refusedBy(second, token.accessToken)
    })

    test('on request, it revokes every token and ends every session', async () => {
      const token = await issue()
      assert.equal(await ask(second, token.accessToken), 200)
      const now = Date.now()
      const session = { hash: 'h', user_id: 'u', password_check: '', created_at: now, password_at: now }
      await system.db
        .insertInto('waypost_session')
        .values({ ...session, expires_at: now + 60_000 })
        .execute()
      const restored = await declare(true)
      assert.deepEqual([restored?.tokens, restored?.sessions], [1, 1])
      await refusedBy(second, token.accessToken)
      assert.equal((await declare())?.sessions, 0)
    })

    test('nothing is changed without confirmation', async () => {
      const head = await system.db.selectFrom('waypost_feed_head').selectAll().execute()
      const declined = await declareRestored(asCommand(server.host), {
        revokeTokens: true,
        confirm: () => Promise.resolve(false),
      })
      assert.equal(declined, undefined)
      assert.deepEqual(await system.db.selectFrom('waypost_feed_head').selectAll().execute(), head)
    })

    test('it shows the age of the backup, from the latest activity of users', async () => {
      await system.db.deleteFrom('waypost_feed').execute()
      const ann = await system.db.selectFrom('waypost_user').select('created_at').executeTakeFirstOrThrow()
      assert.equal((await declare())?.backupAt, ann.created_at)
      assert.equal((await declare())?.backupAt, ann.created_at, 'declaring leaves no trace of that kind')
    })
  })
}
