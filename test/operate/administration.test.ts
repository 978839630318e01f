import assert from 'node:assert/strict'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import {
  addHostClient,
  addHostUser,
  changeHostIssuer,
  changeHostUserStatus,
  rotateHostSecret,
} from '../../src/operate/index.ts'
import { listServers, openIdentity, type Host } from '../../src/host/index.ts'
import { reportServer } from '../../src/host/report-server.ts'
import { loadFacts, makeSecrets, replaceFact } from '../../src/store/index.ts'
import { defaultKinds } from '../support/forms.ts'
import { asCommand, issuer, startTestServer, type TestServer } from '../support/server.ts'

for (const kind of defaultKinds) {
  describe(`administration on ${kind}`, () => {
    let server: TestServer
    let host: Host
    before(async () => {
      server = await startTestServer({ kind })
      host = server.host
    })
    after(() => server.close())

    test('a user is identified by its name or its id, and by no name that looks like the id of another', async () => {
      const request = { scopes: ['todo'], admin: false }
      const ann = await addHostUser(asCommand(host), { name: 'ann', ...request })
      const impostor = await addHostUser(asCommand(host), { name: ann.id, ...request })
      const disabled = await changeHostUserStatus(asCommand(host), { name: ann.id, status: 'disabled' })
      assert.equal(disabled.name, 'ann')
      const rows = await host.system.db.selectFrom('waypost_user').select('id').where('status', '=', 'active').execute()
      assert.deepEqual(
        rows.map(({ id }) => id),
        [impostor.id],
      )
      await changeHostUserStatus(asCommand(host), { name: 'ann', status: 'active' })
      const client = { name: 'c', scopes: undefined, grants: undefined, redirectUris: [], public: false }
      const added = await addHostClient(asCommand(host), { ...client, user: ann.id })
      const { user_id: owner } = await host.system.db
        .selectFrom('waypost_client')
        .select('user_id')
        .where('id', '=', added.client_id)
        .executeTakeFirstOrThrow()
      assert.equal(owner, ann.id)
    })

    test('of two concurrent changes of the issuer, one fails', async () => {
      let arrived = 0
      const both = Promise.withResolvers<void>()
      const confirm = () => {
        if (++arrived === 2) both.resolve()
        return both.promise.then(() => true)
      }
      const changes = ['https://a.example.com', 'https://b.example.com'].map((url) =>
        changeHostIssuer(asCommand(host), { url, confirm }),
      )
      const results = await Promise.allSettled(changes)
      const done = results.find((result) => result.status === 'fulfilled')
      const failed = results.find((result) => result.status === 'rejected')
      assert.equal((await loadFacts(host.system)).issuer, done?.value?.to)
      assert.equal(failed?.reason.code, 'WP_SERVER_ISSUER_MOVED')
      await replaceFact(host.system, 'issuer', issuer)
    })

    test('nothing changes without confirmation', async () => {
      const change = changeHostIssuer(asCommand(host), {
        url: 'https://a.example.com',
        confirm: () => Promise.resolve(false),
      })
      assert.equal(await change, undefined)
      assert.equal((await loadFacts(host.system)).issuer, issuer)
    })

    test('a server whose row was deleted reports itself and its release again', async () => {
      const report = await reportServer(host, { secrets: { keyIds: ['k1', 'k2'] }, issuer }, { intervalMs: 20 })
      await report.update({ state: 'serving', release: 'r1' })
      const [before] = await listServers(host)
      await host.system.db.deleteFrom('waypost_server').execute()
      while ((await listServers(host)).length === 0) await pause(20)
      assert.deepEqual(await listServers(host), [before])
      await report.stop()
      assert.deepEqual(await listServers(host), [])
    })

    test('on a development System dev sets the issuer; of two concurrent changes of its secret, the result is consistent', async () => {
      await replaceFact(host.system, 'origin', 'development')
      const change = changeHostIssuer(asCommand(host), {
        url: 'https://a.example.com',
        confirm: () => Promise.resolve(true),
      })
      await assert.rejects(change, { code: 'WP_SERVER_ISSUER_DEVELOPMENT' })

      const folder = path.join(host.folder, '.waypost')
      await mkdir(folder, { recursive: true })
      await writeFile(path.join(folder, 'secret'), `${host.variables['WAYPOST_SECRET']}\n`)
      await Promise.all(Array.from({ length: 3 }, () => rotateHostSecret(asCommand(host), { force: false })))
      const text = await readFile(path.join(folder, 'secret'), 'utf8')
      assert.match(text, /^[\w-]{43}\n$/)
      const { secrets } = await openIdentity(host)
      const keys = await host.system.db.selectFrom('waypost_key').selectAll().execute()
      assert.equal(keys.length, 1)
      for (const { id, private_jwk: sealed } of keys) {
        assert.match(secrets.unseal(sealed, { table: 'waypost_key', row: id, column: 'private_jwk' }), /"d":/)
      }
    })

    test('while the secret is changing, a process that lacks the new one does not start', async () => {
      const { system } = host
      let during: ReturnType<typeof loadFacts> | undefined
      await rotateHostSecret(asCommand(host), { force: false, onProgress: () => void (during ??= loadFacts(system)) })
      const { secret_check: current } = await loadFacts(system)
      assert.equal((await during)?.secret_next, current)
      assert.equal((await loadFacts(system)).secret_next, undefined)
      await replaceFact(system, 'secret_next', makeSecrets('n'.repeat(40)).checkValue)
      await assert.rejects(openIdentity(host), { code: 'WP_STORE_SECRET_ROTATING', hint: /"new,old"/ })
      await replaceFact(system, 'secret_next', current!)
      await openIdentity(host)
    })
  })
}
