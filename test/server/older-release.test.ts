import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import type { ActionPlan } from '../../src/contract/index.ts'
import { releaseId, type Manifest } from '../../src/release/index.ts'
import { openProjectServer, type ProjectServer } from '../support/project-server.ts'
import { send } from '../support/send.ts'

// What Waypost 1.0.0 built, with the plans of its action classes. Servers of all later versions must serve it, so do not
// change this file: add another one if the structure of a plan changes.
const file = path.join(import.meta.dirname, '../fixtures/release/waypost-1.0.0.json')
const files = { 'waypost.yml': 'routes: {}\n' }

let manifest: Manifest
let server: ProjectServer
let ann: { authorization: string }
before(async () => {
  manifest = JSON.parse(await readFile(file, 'utf8')) as Manifest
  server = await openProjectServer({ files })
  const { db } = server.host.system
  await sql`create table app_order (id integer primary key, user_id text not null, status integer not null,
    title text not null, version integer not null, insert_date text not null)`.execute(db)
  ann = await server.authorize('ann', ['order'])
})
after(() => server[Symbol.asyncDispose]())

const serve = (one: Manifest) =>
  server.server.serveRelease(
    { id: releaseId(one), manifest: one, activatedAt: 0, activatedBy: 'test' },
    { artifacts: [] },
  )
const call = (operation: string, body?: unknown) => {
  const [method = '', target = ''] = operation.split(' ')
  return send(server.port, { method, path: target, headers: ann, ...(body === undefined ? {} : { body }) })
}

test('a release that was planned by Waypost 1.0.0 is served', async () => {
  await serve(manifest)
  const posted = await call('POST /order', { title: 'Milk' })
  assert.deepEqual([posted.status, posted.headers['location']], [201, '/order/1'], posted.text)
  assert.equal((await call('PATCH /order/1', { title: 'Bread' })).body.version, 2)
  assert.equal((await call('GET /order/x')).status, 400)
  const list = await call('GET /order?title.contains=rea&sort=-title&count=true')
  assert.deepEqual([list.body.entry.length, list.body.next, list.body.count], [1, null, 1])
  assert.deepEqual((await call('GET /titles?like=B%25')).body, [{ title: 'Bread' }])
  assert.equal((await call('DELETE /order/1')).status, 204)
  assert.deepEqual((await call('GET /order')).body.entry, [])
  assert.deepEqual((await call('GET /fixed')).body, { hello: 'world' })
  assert.equal((await call('POST /event', { title: 'x' })).status, 202)
  assert.equal((await call('GET /shop/7')).status, 502)
})

test('a plan that the server does not know is rejected, and the release before stays', async () => {
  for (const { path: where, methods } of manifest.routes) {
    const [{ action, method }] = methods as [(typeof methods)[number]]
    if (!('plan' in action) || action.plan === undefined) continue
    const changed = structuredClone(manifest)
    const use = changed.routes.find((route) => route.path === where)!.methods[0]!.action as { plan: ActionPlan }
    use.plan = { ...use.plan, format: 99 }
    await assert.rejects(serve(changed), (error: Error & { code: string }) => {
      assert.equal(error.code, 'WP_PLUGIN_MAKE')
      assert.match(error.message, new RegExp(`${method} ${where}`))
      return true
    })
  }
  assert.deepEqual((await call('GET /fixed')).body, { hello: 'world' })
})
