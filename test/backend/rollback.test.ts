import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { activateRelease, listReleases, loadActiveId } from '../../src/release/index.ts'
import { defaultKinds } from '../support/forms.ts'
import { makeGreeting, openDeployers, type Call, type Deployers } from './deployers.ts'

const survey = 'POST /backend/deploy/rollback/survey'
const rollback = 'POST /backend/deploy/rollback'
const codeOf = ({ body: problem }: Awaited<ReturnType<Call>>) => String(problem.type).split('#')[1]

for (const kind of defaultKinds) {
  describe(`rollbacks over HTTP on ${kind}`, () => {
    let world: Deployers
    let ids: string[]
    before(async () => {
      world = await openDeployers(kind)
      ids = []
      for (const name of ['one', 'two', 'three']) {
        ids.push((await activateRelease(world.system, makeGreeting(name), { by: 'ann' })).id)
      }
    })
    after(() => world.close())

    test('requires the permission to deploy, also for the survey', async () => {
      for (const line of [survey, rollback]) {
        assert.equal((await world.nobody(line, {})).status, 401)
        for (const call of [world.stranger, world.plan]) {
          const refused = await call(line, {})
          assert.deepEqual([refused.status, codeOf(refused)], [403, 'WP_AUTH_SCOPE'], line)
        }
      }
    })

    test('returns what it would involve, and changes nothing', async () => {
      const [one, two, three] = ids
      const { status, body } = await world.deploy(survey, { protocol: 2 })
      assert.equal(status, 200, JSON.stringify(body))
      assert.deepEqual([body.id, body.active.id, body.unknownMigrations, body.unreachable], [two, three, [], []])
      assert.equal((await world.deploy(survey, { protocol: 2, release: one!.slice(0, 12) })).body.id, one)
      const unknown = await world.deploy(survey, { protocol: 2, release: '00000000' })
      assert.deepEqual([unknown.status, codeOf(unknown)], [404, 'WP_RELEASE_UNKNOWN'])
      assert.equal(await loadActiveId(world.system), three)
    })

    test('activates the release, and records the actor', async () => {
      const [one, two, three] = ids
      const late = await world.deploy(rollback, { protocol: 2, release: two, against: one })
      assert.deepEqual([late.status, codeOf(late)], [409, 'WP_RELEASE_SUPERSEDED'])
      const done = await world.deploy(rollback, { protocol: 2, release: two, against: three, message: 'Slow' })
      assert.deepEqual([done.status, done.body], [200, { id: two, activated: true }])
      const [first] = await listReleases(world.system, 1)
      assert.deepEqual(
        [first?.id, first?.kind, first?.activatedBy, first?.message],
        [two, 'rollback', 'bo (pipeline)', 'Slow'],
      )
      const again = await world.deploy(rollback, { protocol: 2, release: two })
      assert.deepEqual([again.status, again.body], [200, { id: two, activated: false }])
    })

    test('keeps the undone release as the draft if its files are known and the draft has no changes', async () => {
      const [, two, three] = ids
      const body = { protocol: 2, release: three, against: two, keep_draft: true }
      const refused = await world.deploy(rollback, body)
      assert.deepEqual([refused.status, codeOf(refused)], [404, 'WP_RELEASE_NO_FILES'])
      const files = (content: string) => [{ path: 'waypost.yml', content }]
      const four = await activateRelease(world.system, makeGreeting('four'), { by: 'ann', files: files('event: {}\n') })
      const kept = { by: 'ann', files: files('event: { a: {} }\n') }
      const five = await activateRelease(world.system, makeGreeting('five'), kept)
      const done = await world.deploy(rollback, { protocol: 2, release: four.id, against: five.id, keep_draft: true })
      assert.deepEqual([done.status, done.body], [200, { id: four.id, activated: true }])
      const changes = world.system.db.selectFrom('waypost_draft_change').select(['name', 'user_id', 'user_name'])
      assert.deepEqual(await changes.execute(), [{ name: '/event/a', user_id: world.boId, user_name: 'bo' }])
      const again = await world.deploy(rollback, { protocol: 2, release: five.id, keep_draft: true })
      assert.deepEqual([again.status, codeOf(again)], [409, 'WP_BACKEND_ROLLBACK_DRAFT'])
      assert.equal((await world.deploy(rollback, { protocol: 2, release: two })).status, 200)
    })

    test('rejects invalid requests, and releases that cannot be restored', async () => {
      for (const body of [
        { protocol: 2 },
        { protocol: 2, release: ids[0]!.slice(0, 8) },
        { protocol: 2, release: `${ids[0]}%` },
        { protocol: 2, release: ids[0], by: 'root' },
        { protocol: 2, release: ids[0], message: 'a\u202Eb' },
        { protocol: 1, release: ids[0] },
      ]) {
        assert.equal((await world.deploy(rollback, body)).status, 400, JSON.stringify(body))
      }
      const row = { id: 's', name: 'app-1', version: '0.0.1', state: 'serving' as const, started_at: 1 }
      const servers = world.system.db.insertInto('waypost_server')
      await servers.values({ ...row, heartbeat_at: Date.now() }).execute()
      const refused = await world.deploy(rollback, { protocol: 2, release: ids[0] })
      assert.deepEqual([refused.status, codeOf(refused)], [409, 'WP_RELEASE_SERVERS_OLDER'])
      await world.system.db.deleteFrom('waypost_server').execute()
      assert.equal(await loadActiveId(world.system), ids[1])
    })
  })
}

test('a rollback over HTTP keeps no draft where WAYPOST_BACKEND=read turns drafts off', async () => {
  const world = await openDeployers('sqlite', { variables: { WAYPOST_BACKEND: 'read' } })
  const { id } = await activateRelease(world.system, makeGreeting('one'), { by: 'ann' })
  await activateRelease(world.system, makeGreeting('two'), { by: 'ann' })
  const refused = await world.deploy(rollback, { protocol: 2, release: id, keep_draft: true })
  assert.deepEqual([refused.status, codeOf(refused)], [404, 'WP_BACKEND_DRAFT'])
  await world.close()
})
