import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { loadActiveRelease, loadFiles, listActivations, loadDraftRows } from '../../src/release/index.ts'
import { makeLock } from '../../src/store/index.ts'
import { etagOfValue } from '../../src/backend/draft/values.ts'
import { createNote, describePublishing, events, first, yml } from './publishing.ts'

interface Change {
  readonly change: string
  readonly kind: string
  readonly name: string
  readonly breaking: boolean
}

describePublishing('publishing a draft', (publishing) => {
  const { write, names, activeId, start, finished, publish, refused, plan, begin } = publishing

  test('of an empty System creates its first release, with its files, and empties the draft', async () => {
    await write(first)
    const planned = await plan()
    assert.deepEqual([planned.active, planned.diagnostics], [null, []])
    assert.deepEqual(
      planned.migrations.map(({ name, losses }: { name: string; losses: string[] }) => [name, losses]),
      [['System/20261101-note', []]],
    )
    assert.match(planned.migrations[0].sql[0], /^create table "app_note"/)
    assert.deepEqual(
      planned.changes.map(({ change, kind: what, name }: Change) => `${change} ${what} ${name}`),
      ['added route GET /note', 'added migration System/20261101-note'],
    )
    await refused({}, 'WP_RELEASE_MIGRATIONS_PENDING')
    const done = await publish({ migrate: true, message: 'First' })
    assert.deepEqual(
      [done.release, done.by, done.message, done.migrated, done.error],
      [planned.release, 'root (login)', 'First', ['System/20261101-note'], null],
    )
    assert.equal(await activeId(), planned.release)
    const [activation] = await listActivations(publishing.world.system, planned.release, 1)
    assert.deepEqual([activation!.kind, activation!.message], ['backend', 'First'])
    const files = await loadFiles(publishing.world.system, activation!.files!)
    assert.deepEqual(Object.fromEntries(files.map((one) => [one.path, one.content])), first)
    assert.equal((await loadDraftRows(publishing.world.system.db)).draft, undefined)
    assert.deepEqual(
      (await publishing.world.system.db.selectFrom('waypost_draft_change').selectAll().execute()).length,
      0,
    )
    await refused({}, 'WP_BACKEND_PUBLISH_NOTHING')
  })

  test('of a selection leaves the rest in the draft, with its authors', async () => {
    await begin()
    await write({ 'waypost.yml': yml + events('added', 'removed') })
    assert.deepEqual(await names(), ['/event/added', '/event/removed'])
    assert.equal((await refused({ changes: ['/event/other'] }, 'WP_BACKEND_PUBLISH_CHANGE')).status, 409)
    await refused({ changes: [] }, 'WP_BACKEND_PUBLISH_NOTHING')
    const planned = await plan(['/event/removed'])
    const line = yml.split('\n').length + 1
    assert.deepEqual(
      planned.changes.map(({ name, source, at }: Record<string, unknown>) => [name, source, at]),
      [['removed', `waypost.yml:${line}`, '/event/removed']],
    )
    await refused({ release: planned.release }, 'WP_BACKEND_PUBLISH_OTHER')
    const done = await publish({ changes: ['/event/removed'], release: planned.release })
    assert.equal(done.release, planned.release)
    const { manifest } = (await loadActiveRelease(publishing.world.system))!
    assert.deepEqual(Object.keys(manifest.events), ['removed'])
    assert.deepEqual(await names(), ['/event/added'])
    assert.deepEqual([...(await publishing.draft.listAuthors()).keys()], ['/event/added'])
    const { active, draft: stored } = await loadDraftRows(publishing.world.system.db)
    assert.deepEqual([stored!.base, stored!.baseFiles], [active!.number, active!.files])
    await publish()
    assert.deepEqual(Object.keys((await loadActiveRelease(publishing.world.system))!.manifest.events), [
      'added',
      'removed',
    ])
  })

  test('keeps what is edited meanwhile', async () => {
    await write(first)
    const held = Promise.withResolvers<void>()
    const isHeld = Promise.withResolvers<void>()
    const holding = makeLock(publishing.world.system.database)('migrate', () => {
      isHeld.resolve()
      return held.promise
    })
    await isHeld.promise
    const { body } = await start({ migrate: true })
    await write({ 'waypost.yml': yml.replace('/note', '/notes') + events('later') })
    const second = await refused({ migrate: true }, 'WP_BACKEND_PUBLISH_RUNNING')
    assert.equal(second.publish, body.id)
    assert.match(second.detail, /^root \(login\) is publishing right now/)
    held.resolve()
    await holding
    assert.equal((await finished(body.id)).state, 'activated')
    assert.deepEqual(await names(), ['/routes/~1note', '/routes/~1notes', '/event/later'])
    assert.equal((await loadActiveRelease(publishing.world.system))!.manifest.routes[0]!.path, '/note')
  })

  test('fails with a migration that fails: the old release and the draft stay', async () => {
    await begin()
    const before = await activeId()
    await sql`create table app_taken (id integer)`.execute(publishing.world.system.db)
    const two = createNote.replace('app_note', 'app_two')
    const taken = createNote.replace('app_note', 'app_taken')
    await write({ 'migrations/System/20261102-two.yml': two, 'migrations/System/20261103-taken.yml': taken })
    const changes = await names()
    const { body } = await start({ migrate: true })
    const failed = await finished(body.id)
    assert.deepEqual([failed.state, failed.error.code], ['failed', 'WP_MIGRATE_FAILED'])
    assert.match(failed.error.message, /20261103-taken/)
    assert.deepEqual(failed.migrated, ['System/20261102-two'])
    assert.equal(await activeId(), before)
    assert.deepEqual(await names(), changes)
    const three = createNote.replace('app_note', 'app_three')
    await write({ 'migrations/System/20261104-three.yml': three })
    const chosen = ['migrations/System/20261104-three.yml']
    assert.deepEqual((await publish({ changes: chosen, migrate: true })).migrated, ['System/20261104-three'])
    assert.deepEqual(await names(), ['migrations/System/20261103-taken.yml'], 'what ran is published too')
    await sql`drop table app_taken`.execute(publishing.world.system.db)
    assert.deepEqual((await publish({ migrate: true })).migrated, ['System/20261103-taken'])
  })

  test('begins once if two administrators publish at the same time', async () => {
    await write(first)
    const answers = await Promise.all([start({ migrate: true }), start({ migrate: true })])
    const begun = answers.filter(({ status }) => status === 202)
    assert.deepEqual(
      [begun.length, answers.map(({ status }) => status).toSorted((one, other) => one - other)],
      [1, [202, 409]],
    )
    assert.equal((await finished(begun[0]!.body.id)).state, 'activated')
  })

  test('that was begun by a server which stopped counts as failed, and another one can begin', async () => {
    await write(first)
    const row = {
      id: 'p1',
      state: 'activating',
      release_id: 'abc',
      by_name: 'bob',
      detail: '{"migrated":[]}',
    } as const
    const { now } = await publishing.world.system.db
      .selectNoFrom(publishing.world.system.now().as('now'))
      .executeTakeFirstOrThrow()
    const insert = (at: number) =>
      publishing.world.system.db
        .insertInto('waypost_publish')
        .values({ ...row, created_at: at, updated_at: at })
        .execute()
    await insert(now)
    await refused({ migrate: true }, 'WP_BACKEND_PUBLISH_RUNNING')
    await publishing.world.system.db
      .updateTable('waypost_publish')
      .set({ updated_at: now - 31_000 })
      .execute()
    const { state, error } = (await publishing.world.call('GET /publish/p1')).body
    assert.deepEqual([state, error.code], ['failed', 'WP_BACKEND_PUBLISH_STOPPED'])
    await publish({ migrate: true })
    assert.equal((await publishing.world.call('GET /publish/p1')).body.state, 'failed')
    assert.equal((await publishing.world.call('GET /publish/p2')).status, 404)
  })

  test('a token that may read and edit cannot make the server open a connection, or publish', async () => {
    const opened: string[] = []
    const listener = createServer((socket) => {
      opened.push('opened')
      socket.destroy()
    }).listen(0, '127.0.0.1')
    await once(listener, 'listening')
    const { port } = listener.address() as AddressInfo
    await begin()
    const url = `postgresql://\${env.SECRET_USER}@127.0.0.1:${port}/x`
    const editor = await publishing.world.as('backend.read', 'backend.write')
    const files = {
      'waypost.yml': `${yml}connection:\n  Other: { class: postgresql, config: { url: '${url}' } }\n`,
      'migrations/Other/20261102-two.yml': createNote,
    }
    const { texts } = await publishing.draft.read()
    const edits = Object.entries(files).map(([file, content]) => ({
      file,
      text: content,
      if: texts.has(file) ? etagOfValue(texts.get(file)) : null,
    }))
    const saved = await editor('PATCH /draft', { json: { files: edits } })
    assert.equal(saved.status, 200, saved.text)
    const { status, body, text } = await editor('POST /draft/plan', { json: {} })
    assert.equal(status, 200, text)
    assert.deepEqual(opened, [])
    assert.deepEqual(
      body.migrations.map(({ name }: { name: string }) => name),
      ['Other/20261102-two'],
    )
    assert.match(body.migrations[0].sql[0], /generated by default as identity/)
    const json = { against: await activeId(), migrate: true }
    assert.equal((await editor('POST /draft/publish', { json })).status, 403)
    assert.deepEqual(opened, [])
    const refusal = await start({ migrate: true })
    assert.ok(refusal.status >= 400, refusal.text)
    listener.close()
  })
})
