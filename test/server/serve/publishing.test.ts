// A draft that is published on one of several servers.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { addUser } from '../../../src/auth/index.ts'
import { SystemDraft } from '../../../src/backend/index.ts'
import { version } from '../../../src/kit/index.ts'
import { issueHostToken, setHostVariable } from '../../../src/operate/index.ts'
import { send } from '../../support/send.ts'
import { asCommand, bearer } from '../../support/server.ts'
import { until } from '../../support/until.ts'
import { openServeSiteOn, type LoggedServer, type ServeSite } from './site.ts'
import { chooseKinds, longTest } from '../../support/forms.ts'

const yml = (path: string) => `action:
  Note: { class: sql-table, config: { table: app_note, columns: [id, text] } }
routes:
  ${path}: { methods: { GET: { public: true, action: Note } } }
`
const migration = 'create_table: { app_note: { columns: { id: id, text: text(200) } } }\n'

for (const kind of chooseKinds('postgresql')) {
  describe(`publishing on one of three servers, ${kind}`, () => {
    let site: ServeSite
    let servers: readonly LoggedServer[]
    let draft: SystemDraft
    let headers: Readonly<Record<string, string>>
    const closers: (() => PromiseLike<unknown>)[] = []
    before(async () => {
      site = await openServeSiteOn(kind)
      closers.push(() => site[Symbol.asyncDispose]())
      const { host } = site
      const scopes = ['backend.read', 'backend.write', 'backend.deploy']
      await addUser(host.system, { name: 'ann', scopes })
      const { access_token: token } = await issueHostToken(asCommand(host), { user: 'ann', scopes, expires: undefined })
      headers = bearer(token)
      servers = await Promise.all([site.start(), site.start(), site.start()])
      draft = new SystemDraft(host, () => 'test')
    })
    after(async () => {
      draft.close()
      for (const close of closers.toReversed()) await close()
    })

    const call = (server: number, line: string, body?: unknown) => {
      const [method = '', target = ''] = line.split(' ')
      return send(servers[server]!.port, { method, path: `/backend${target}`, headers, body })
    }
    const write = async (files: Readonly<Record<string, string>>) => {
      const { texts } = await draft.read()
      const changes = Object.entries(files).map(([file, text]) => ({ file, text, before: texts.get(file) }))
      assert.ok(await draft.write(changes, { by: { id: 'u', name: 'bob' } }))
    }
    const followed = async (id: string) => {
      await until('all servers serve it', async () => {
        const { body } = await call(1, `GET /publish/${id}`)
        assert.notEqual(body.state, 'failed', JSON.stringify(body.error))
        return body.servers.length === 3 && body.servers.every((one: { state: string }) => one.state === 'serving')
      })
    }
    const statuses = async (path: string) =>
      Promise.all(servers.map(async ({ port }) => (await send(port, { path })).status))

    test('all of them follow; its progress is visible from the others', async () => {
      await write({ 'waypost.yml': yml('/note'), 'migrations/System/20261101-note.yml': migration })
      const first = await call(0, 'POST /draft/publish', { against: null, migrate: true })
      assert.equal(first.status, 202, first.text)
      await followed(first.body.id)
      assert.deepEqual(await statuses('/note'), [200, 200, 200])
      await write({ 'waypost.yml': yml('/notes') })
      const { release } = (await call(1, `GET /publish/${first.body.id}`)).body
      const second = await call(2, 'POST /draft/publish', { against: release, allow_breaking: true })
      assert.equal(second.status, 202, second.text)
      await followed(second.body.id)
      assert.deepEqual(await statuses('/notes'), [200, 200, 200])
      assert.deepEqual((await call(0, `GET /publish/${first.body.id}`)).body.servers, [], 'another release is active')
    })

    // In CI, backend/release-gate.test.ts has this rule at every entrance.
    longTest('a server with an older version refuses it; nothing changes', async () => {
      const { db } = site.host.system
      await write({ 'waypost.yml': yml('/other') })
      await db
        .updateTable('waypost_server')
        .set({ version: '0.9.0' })
        .where('name', 'like', `%:${servers[2]!.port}`)
        .execute()
      const { body: plan } = await call(0, 'POST /draft/plan', {})
      assert.equal(plan.older_servers.length, 1)
      const request = { against: plan.active, allow_breaking: true }
      const refused = await call(0, 'POST /draft/publish', request)
      assert.equal(refused.status, 409)
      assert.match(refused.body.detail, new RegExp(`: \\S+:${servers[2]!.port} \\(0\\.9\\.0\\)$`))
      assert.deepEqual(await statuses('/other'), [404, 404, 404])
      await db.updateTable('waypost_server').set({ version }).execute()
      const done = await call(0, 'POST /draft/publish', request)
      assert.equal(done.status, 202, done.text)
      await followed(done.body.id)
      assert.deepEqual(await statuses('/other'), [200, 200, 200])
    })

    // In CI, fall-back.test.ts has this for one server.
    longTest(
      'servers that cannot start the release say why, and serve the previous one until it is fixed',
      async () => {
        const host = asCommand(site.host)
        await setHostVariable(host, { name: 'COUNT', value: 'many' })
        await write({ 'waypost.yml': `${yml('/counted')}env:\n  COUNT: { type: integer }\n` })
        const { active } = (await call(0, 'POST /draft/plan', {})).body
        const { body } = await call(0, 'POST /draft/publish', { against: active, allow_breaking: true })
        const progress = async () => (await call(1, `GET /publish/${body.id}`)).body
        await until('all servers have failed', async () => {
          const states = (await progress()).servers.map((one: { state: string }) => one.state)
          return states.length === 3 && states.every((state: string) => state === 'failed')
        })
        const { state, servers: failed } = await progress()
        assert.equal(state, 'activated')
        for (const { error } of failed) assert.match(error, /COUNT/)
        assert.deepEqual(await statuses('/other'), [200, 200, 200])
        await setHostVariable(host, { name: 'COUNT', value: '5' })
        await followed(body.id)
        assert.deepEqual(await statuses('/counted'), [200, 200, 200])
      },
    )
  })
}
