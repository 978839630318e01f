import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { loadActiveRelease, loadFiles, listActivations, loadDraftRows } from '../../src/release/index.ts'
import { makeLock } from '../../src/store/index.ts'
import { longTest } from '../support/forms.ts'
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

  test('of an empty System creates its first release, once for two administrators, and empties the draft', async () => {
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
    const answers = await Promise.all([1, 2].map(() => start({ migrate: true, message: 'First' })))
    const begun = answers.find(({ status }) => status === 202)!
    assert.deepEqual(
      answers.map(({ status }) => status).toSorted((one, other) => one - other),
      [202, 409],
    )
    const done = await finished(begun.body.id)
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
    await begin()
    await write({ 'migrations/System/20261105-held.yml': createNote.replace('app_note', 'app_held') })
    const held = Promise.withResolvers<void>()
    const isHeld = Promise.withResolvers<void>()
    const holding = makeLock(publishing.world.system.database)('migrate', () => {
      isHeld.resolve()
      return held.promise
    })
    await isHeld.promise
    const { body } = await start({ migrate: true })
    await write({ 'waypost.yml': yml.replace('/note', '/notes') + events('later') })
    const second = await refused({ migrate: true, allow_breaking: true }, 'WP_BACKEND_PUBLISH_RUNNING')
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
    await write({ 'migrations/System/20261106-two.yml': two, 'migrations/System/20261107-taken.yml': taken })
    const changes = await names()
    const { body } = await start({ migrate: true })
    const failed = await finished(body.id)
    assert.deepEqual([failed.state, failed.error.code], ['failed', 'WP_MIGRATE_FAILED'])
    assert.match(failed.error.message, /20261107-taken/)
    assert.deepEqual(failed.migrated, ['System/20261106-two'])
    assert.equal(await activeId(), before)
    assert.deepEqual(await names(), changes)
    const three = createNote.replace('app_note', 'app_three')
    await write({ 'migrations/System/20261108-three.yml': three })
    const chosen = ['migrations/System/20261108-three.yml']
    assert.deepEqual((await publish({ changes: chosen, migrate: true })).migrated, ['System/20261108-three'])
    assert.deepEqual(await names(), ['migrations/System/20261107-taken.yml'], 'what ran is published too')
    await sql`drop table app_taken`.execute(publishing.world.system.db)
    assert.deepEqual((await publish({ migrate: true })).migrated, ['System/20261107-taken'])
  })

  test('that was begun by a server which stopped counts as failed, and another one can begin', async () => {
    await begin()
    await write({ 'waypost.yml': yml + events('stopped') })
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
    await refused({}, 'WP_BACKEND_PUBLISH_RUNNING')
    await publishing.world.system.db
      .updateTable('waypost_publish')
      .set({ updated_at: now - 31_000 })
      .where('id', '=', 'p1')
      .execute()
    const { state, error } = (await publishing.world.call('GET /publish/p1')).body
    assert.deepEqual([state, error.code], ['failed', 'WP_BACKEND_PUBLISH_STOPPED'])
    await publish()
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

  // In CI, rollback.test.ts keeps such a draft.
  longTest('can be undone by a rollback that keeps what it undoes as a draft', async () => {
    await begin()
    const one = (await activeId())!
    await write({ 'waypost.yml': yml + events('added') })
    const { release: two } = await publish()
    const back = (id: string, against: string) =>
      publishing.world.call(`POST /release/${id}/rollback`, { json: { against, keep_draft: true } })
    assert.deepEqual((await back(one, two)).body, { id: one, activated: true })
    assert.deepEqual(await names(), ['/event/added'])
    const { entries } = (await publishing.world.call('GET /draft')).body
    assert.deepEqual([entries[0].name, typeof entries[0].by], ['/event/added', 'string'])
    assert.match((await back(two, one)).body.type, /#WP_BACKEND_ROLLBACK_DRAFT$/)
    assert.equal(await activeId(), one)
    assert.equal((await publish()).release, two)
    assert.deepEqual(await names(), [])
  })

  test('a migration with the name of one that ran, and another text, can be discarded', async () => {
    await begin()
    const one = (await activeId())!
    const file = 'migrations/System/20261109-other.yml'
    const other = createNote.replace('app_note', 'app_other')
    await write({ [file]: other })
    const { release } = await publish({ migrate: true })
    const undone = await publishing.world.call(`POST /release/${one}/rollback`, { json: { against: release } })
    assert.equal(undone.status, 200, undone.text)
    await write({ [file]: other.replace('200', '100') })
    await refused({ migrate: true }, 'WP_SERVER_MIGRATIONS_EDITED')
    const { body } = await publishing.world.call('POST /draft/discard', { json: {} })
    assert.deepEqual([body.kept, await names()], [[], []])
    await write({ [file]: other })
    assert.equal(
      (await publishing.world.call('POST /draft/discard', { json: {} })).body.kept.length,
      1,
      'the text that ran stays',
    )
  })

  // Last: its second publication goes on.
  test('a table can be created again after a rollback: its migration has another name', async () => {
    await begin()
    const one = (await activeId())!
    const create = async (column: string) => {
      const columns = [
        { name: 'id', type: 'id' },
        { name: column, type: 'text' },
      ]
      const design = { name: 'app_pet', columns, key: [], unique: [], index: [] }
      const json = { connection: 'System', table: null, design, preview: false }
      return (await publishing.world.call('POST /draft/migration', { json })).body.change.file as string
    }
    const file = await create('a')
    const { release: two } = await publish({ migrate: true })
    const undone = await publishing.world.call(`POST /release/${one}/rollback`, { json: { against: two } })
    assert.equal(undone.status, 200, undone.text)
    const again = await create('b')
    assert.notEqual(again, file)
    assert.ok(file < again)
    assert.equal((await start({ migrate: true })).status, 202)
  })
})
