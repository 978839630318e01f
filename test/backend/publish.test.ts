import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { sql } from 'kysely'
import { SystemDraft } from '../../src/backend/index.ts'
import {
  activateRelease,
  loadActiveRelease,
  loadFiles,
  listActivations,
  loadDraftRows,
} from '../../src/release/index.ts'
import { openIdentity, withSystemVariables } from '../../src/host/index.ts'
import { loadUserScopes, resolveUser } from '../../src/auth/index.ts'
import { version } from '../../src/kit/index.ts'
import { recordStatistics } from '../../src/operate/index.ts'
import { makeLock } from '../../src/store/index.ts'
import { chooseKinds, longTest } from '../support/forms.ts'
import { type TestAnswer } from '../support/server.ts'
import { until } from '../support/until.ts'
import { etagOfValue } from '../../src/backend/draft/values.ts'
import { makeRelease } from '../release/system.ts'
import { openAdmin, type AdminWorld } from './admin.ts'

interface Change {
  readonly change: string
  readonly kind: string
  readonly name: string
  readonly breaking: boolean
}

const by = { id: 'u1', name: 'bob' }

const route = (where: string, more = '') =>
  `routes:
  ${where}:
    methods:
      GET: { public: true, action: List${more} }
`
const list = (table = 'app_note', more = '') => `action:
  List: { class: sql-table, config: { table: ${table}, columns: [id, text${more}] } }
`
const createNote = `create_table:
  app_note:
    columns: { id: id, text: text(200) }
`

for (const kind of chooseKinds('sqlite')) {
  describe(`publishing a draft, ${kind}`, () => {
    let world: AdminWorld
    let draft: SystemDraft
    beforeEach(async () => {
      world = await openAdmin(kind)
      draft = new SystemDraft(world.host, () => 'test')
    })
    afterEach(async () => {
      draft.close()
      await world.close()
    })

    const write = async (files: Readonly<Record<string, string | undefined>>) => {
      const { texts } = await draft.read()
      const changes = Object.entries(files).map(([file, text]) => ({ file, text, before: texts.get(file) }))
      assert.ok(await draft.write(changes, { by }), 'written')
    }
    const names = async () => (await draft.readState()).changes.map(({ name }) => name)
    const activeId = async () => (await loadActiveRelease(world.system))?.id ?? null
    const start = async (request: object = {}) =>
      world.call('POST /draft/publish', { json: { against: await activeId(), ...request } })
    const finished = async (id: string) => {
      let found: TestAnswer['body']
      await until('the publication ends', async () => {
        found = (await world.call(`GET /publish/${id}`)).body
        return found.state === 'activated' || found.state === 'failed'
      })
      return found
    }
    const publish = async (request: object = {}) => {
      const { status, body, text } = await start(request)
      assert.equal(status, 202, text)
      const found = await finished(body.id)
      assert.equal(found.state, 'activated', JSON.stringify(found.error))
      return found
    }
    const refused = async (request: object, code: string) => {
      const { status, body, text } = await start(request)
      assert.equal(body.type, `urn:waypost:errors#${code}`, text)
      assert.ok(status >= 400 && status < 500)
      return body
    }
    const plan = async (changes?: readonly string[]) => {
      const { status, body, text } = await world.call('POST /draft/plan', {
        json: changes === undefined ? {} : { changes },
      })
      assert.equal(status, 200, text)
      return body
    }
    const first = { 'waypost.yml': list() + route('/note'), 'migrations/System/20261101-note.yml': createNote }

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
      const [activation] = await listActivations(world.system, planned.release, 1)
      assert.deepEqual([activation!.kind, activation!.message], ['backend', 'First'])
      const files = await loadFiles(world.system, activation!.files!)
      assert.deepEqual(Object.fromEntries(files.map((one) => [one.path, one.content])), first)
      assert.equal((await loadDraftRows(world.system.db)).draft, undefined)
      assert.deepEqual((await world.system.db.selectFrom('waypost_draft_change').selectAll().execute()).length, 0)
      await refused({}, 'WP_BACKEND_PUBLISH_NOTHING')
    })

    /** The first release, without a draft. */
    const begin = async () => {
      await write(first)
      await publish({ migrate: true })
    }
    const events = (...entries: readonly string[]) =>
      `event:\n${entries.map((one) => `  ${one}: { scopes: [] }\n`).join('')}`
    const yml = first['waypost.yml']
    const addServer = (name: string, more: { readonly version?: string; readonly variables?: string } = {}) => {
      const now = world.system.now()
      const times = { started_at: now, heartbeat_at: now, state_at: now }
      const { version: own = version, variables = '' } = more
      const row = { id: name, name, version: own, variables, secret_ids: '', issuer: '', ...times }
      const status = { state: 'serving' as const, error: null, release_id: null, wanted_id: null }
      return world.system.db
        .insertInto('waypost_server')
        .values({ ...row, ...status })
        .execute()
    }

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
      const { manifest } = (await loadActiveRelease(world.system))!
      assert.deepEqual(Object.keys(manifest.events), ['removed'])
      assert.deepEqual(await names(), ['/event/added'])
      assert.deepEqual([...(await draft.listAuthors()).keys()], ['/event/added'])
      const { active, draft: stored } = await loadDraftRows(world.system.db)
      assert.deepEqual([stored!.base, stored!.baseFiles], [active!.number, active!.files])
      await publish()
      assert.deepEqual(Object.keys((await loadActiveRelease(world.system))!.manifest.events), ['added', 'removed'])
    })

    test('keeps what is edited meanwhile', async () => {
      await write(first)
      const held = Promise.withResolvers<void>()
      const isHeld = Promise.withResolvers<void>()
      const holding = makeLock(world.system.database)('migrate', () => {
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
      assert.equal((await loadActiveRelease(world.system))!.manifest.routes[0]!.path, '/note')
    })

    test('is refused while another release is active, and for changes that a deployment made differently', async () => {
      await begin()
      await write({ 'waypost.yml': yml + events('mine') })
      await refused({ against: null }, 'WP_RELEASE_SUPERSEDED')
      const deploy = async (text: string) => {
        const texts = new Map([...(await draft.readState()).base.texts, ['waypost.yml', text]])
        const release = await draft.link(await draft.load(texts))
        const files = [...texts].map(([path, content]) => ({ path, content }))
        await activateRelease(world.system, release, { by: 'ann', files })
      }
      await deploy(yml + events('theirs'))
      await publish()
      assert.deepEqual(Object.keys((await loadActiveRelease(world.system))!.manifest.events), ['mine', 'theirs'])
      await write({ 'waypost.yml': yml + 'event:\n  mine: { description: Mine }\n  theirs: {}\n' })
      await deploy(yml + 'event:\n  mine: { description: Theirs }\n  theirs: {}\n')
      const { conflicts } = await refused({}, 'WP_BACKEND_PUBLISH_CONFLICTS')
      assert.deepEqual(conflicts, ['/event/mine/description'])
    })

    // In CI, release-gate.test.ts has this rule at every entrance, and may-look.test.ts counts calls.
    longTest('that breaks callers must be confirmed; the plan counts their calls', async () => {
      await begin()
      const called = {
        route: 'GET /note',
        statuses: [12, 0, 0, 0],
        sumMs: 12,
        buckets: Array.from({ length: 13 }, () => 0),
      }
      const { now } = await world.system.db.selectNoFrom(world.system.now().as('now')).executeTakeFirstOrThrow()
      await recordStatistics(world.system, [called], now)
      await write({ 'waypost.yml': yml.replace('/note', '/notes') })
      const planned = await plan()
      const removed = planned.changes.find((one: Change) => one.breaking)
      assert.deepEqual([removed.change, removed.name, removed.calls], ['removed', 'GET /note', 12])
      assert.equal(planned.breaking_changes, 'warn')
      await refused({}, 'WP_RELEASE_BREAKING_CHANGES')
      await publish({ allow_breaking: true })
    })

    // In CI, project/deploy/plan.test.ts and rollback.test.ts say so too.
    longTest(
      'says which releases a rollback can no longer return to, and a rollback says why before it is tried',
      async () => {
        await begin()
        const first = (await activeId())!
        assert.deepEqual((await plan()).rollbacks, { reachable: [first], lost: [], migrations: [] })
        const drop = 'drop_column: { app_note: [text] }\n'
        const ymlWithout = yml.replace('columns: [id, text]', 'columns: [id]')
        await write({ 'waypost.yml': ymlWithout, 'migrations/System/20261102-drop.yml': drop })
        const migrations = ['System/20261102-drop']
        assert.deepEqual((await plan()).rollbacks, { reachable: [], lost: [first], migrations })
        await publish({ migrate: true, allow_breaking: true })
        const { status, body } = await world.call(`GET /release/${first}/rollback`)
        assert.deepEqual([status, body.problem.code], [200, 'WP_RELEASE_BREAKING'])
        assert.match(body.problem.message, /20261102-drop \(drops app_note\.text\)/)
      },
    )

    // In CI, release-gate.test.ts has this rule at every entrance.
    longTest('with new warnings about access must be accepted; those of the active release need nothing', async () => {
      await begin()
      const open = 'event:\n  note_created: { scopes: [reader] }\n'
      const given = 'config: { scopes_default: [reader] }\n'
      const where = {
        file: 'waypost.yml',
        code: 'WP_DEFINITION_EVENT_DEFAULT_SCOPE',
        at: '/event/note_created/scopes/0',
      }
      await write({ 'waypost.yml': yml + open + given })
      const planned = await plan()
      const placesOf = (found: readonly Record<string, unknown>[]) =>
        found.map(({ file, code, at }) => ({ file, code, at }))
      assert.deepEqual(placesOf(planned.access_warnings), [where])
      assert.match(planned.access_warnings[0].hint, /not in scopes_default/)
      const { diagnostics } = await refused({ release: planned.release }, 'WP_RELEASE_ACCESS')
      assert.deepEqual(
        diagnostics.map(({ line }: { line: number }) => line),
        [planned.access_warnings[0].line],
      )
      await publish({ accept_access: true, release: planned.release })
      await write({ 'waypost.yml': `${yml}${open}${given}scope: { reader: { description: Reads } }\n` })
      const later = await plan()
      assert.deepEqual(placesOf(later.diagnostics), [where])
      assert.deepEqual(later.access_warnings, [])
      await publish()
    })

    test('shows the same warnings about access as the gate, each at its place in the files', async () => {
      await begin()
      const open = `
  /given: { scopes: [reader], methods: { GET: { public: true, action: List }, POST: { public: true, action: Make } } }
  /mixed: { scopes: [reader], methods: { GET: { public: true, action: List }, POST: { action: Make } } }
  /own: { methods: { POST: { public: true, scopes: [reader], rate: r, action: Make } } }
  /html: { methods: { GET: { public: true, html: trusted, action: List } } }
event:
  free: {}
  stock: { scopes: [other, reader] }
  shut: { scopes: [other] }
rate: { r: { limit: 1, window: 1m } }
config: { scopes_default: [reader] }
`
      const make = '  Make: { class: sql-table, config: { table: app_note, columns: [id, text], write: [text] } }\n'
      await write({ 'waypost.yml': list() + make + route('/note').trimEnd() + open })
      const planned = await plan()
      assert.notEqual(planned.release, null, JSON.stringify(planned.diagnostics))
      const places = planned.access_warnings.map(({ code, at }: { code: string; at: string }) => `${code} ${at}`)
      assert.deepEqual(places, [
        'WP_DEFINITION_PUBLIC_SCOPES /routes/~1given/scopes',
        'WP_DEFINITION_PUBLIC_SCOPES /routes/~1given/scopes',
        'WP_DEFINITION_PUBLIC_CHANGE /routes/~1given/methods/POST/public',
        'WP_DEFINITION_PUBLIC_SCOPES /routes/~1own/methods/POST/scopes',
        'WP_DEFINITION_EVENT_OPEN /event/free',
        'WP_DEFINITION_EVENT_DEFAULT_SCOPE /event/stock/scopes/1',
      ])
      const { detail, diagnostics } = await refused({}, 'WP_RELEASE_ACCESS')
      assert.match(detail, new RegExp(`and ${places.length - 1} more`))
      assert.equal(diagnostics.length, places.length)
      // Not about access: whether the backend shares the origin depends on the server.
      const shared = planned.diagnostics.filter(({ code }: { code: string }) => code === 'WP_HOST_SHARED_ORIGIN')
      assert.deepEqual(
        shared.map(({ severity, at }: { severity: string; at: string }) => [severity, at]),
        [['warning', '/routes/~1html/methods/GET']],
      )
    })

    test('needs variables to be set; staged ones become live with the activation', async () => {
      await begin()
      await addServer('one', { variables: 'HOME' })
      const env = 'env:\n  TOKEN: { type: string }\n'
      await write({ 'waypost.yml': yml + env })
      const planned = await plan()
      assert.deepEqual(planned.missing_variables, [{ name: 'TOKEN', servers: ['one'], uses: ['actions'] }])
      assert.deepEqual((await refused({}, 'WP_RELEASE_VARIABLES')).variables, ['TOKEN'])
      const { secrets } = await openIdentity(world.host)
      const stage = (id: string, value: string) =>
        world.system.db
          .insertInto('waypost_draft_variable')
          .values({
            id,
            value: secrets.seal(value, { table: 'waypost_draft_variable', column: 'value', row: id }),
            changed_at: 0,
            changed_by: 'bob',
          })
          .execute()
      await stage('TOKEN', 'hidden-value')
      await stage('OTHER', 'other')
      assert.deepEqual((await plan()).missing_variables, [])
      await publish()
      assert.equal((await withSystemVariables(world.host)).variables['TOKEN'], 'hidden-value')
      const staged = await world.system.db.selectFrom('waypost_draft_variable').select('id').execute()
      assert.deepEqual(staged, [{ id: 'OTHER' }])
      await write({ 'waypost.yml': `${yml}${env}config: { title: "\${env.TOKEN}" }\n` })
      assert.deepEqual((await plan()).new_variable_uses, [{ name: 'TOKEN', uses: ['setting title'] }])
      const audit = (await world.call('GET /audit?action=variable.set')).text
      assert.match(audit, /TOKEN/)
      assert.doesNotMatch(audit, /hidden-value/)
    })

    test('can give the caller a scope that no one has, if the caller may grant scopes', async () => {
      await begin()
      const scopes = 'scope:\n  note: { description: Notes }\n'
      await write({ 'waypost.yml': yml.replace('public: true,', 'scopes: [note],') + scopes })
      await world.system.db.deleteFrom('waypost_user_scope').where('scope', '=', 'note').execute()
      assert.deepEqual((await plan()).unheld_scopes, ['note'])
      const deployer = await world.as('backend.deploy', 'backend.read')
      const json = { against: await activeId(), grant: ['note'], allow_breaking: true }
      assert.match((await deployer('POST /draft/publish', { json })).body.type, /#WP_BACKEND_PUBLISH_GRANT$/)
      for (const scope of ['other', 'backend.admin'])
        await refused({ grant: ['note', scope], allow_breaking: true }, 'WP_BACKEND_PUBLISH_SCOPE')
      await publish({ grant: ['note'], allow_breaking: true })
      const { id } = await resolveUser(world.system, 'root')
      assert.ok((await loadUserScopes(world.system.db, id)).includes('note'))
      assert.match((await world.call('GET /audit?action=user.scopes')).text, /note/)
    })

    test('is refused if a newer version built the active release', async () => {
      const { manifest, artifacts } = makeRelease('newer')
      const newer = { manifest: { ...manifest, waypost: '99.0.0' }, artifacts }
      await activateRelease(world.system, newer, { by: 'ann', files: [{ path: 'waypost.yml', content: '' }] })
      const { status, body } = await world.call('POST /draft/plan', { json: {} })
      assert.equal(status, 409)
      assert.match(body.detail, /built by waypost 99\.0\.0/)
    })

    // In CI, release-gate.test.ts has this rule at every entrance.
    longTest('is refused while a live server has an older version', async () => {
      await write(first)
      await addServer('old', { version: '0.9.0' })
      assert.deepEqual((await plan()).older_servers, [{ name: 'old', version: '0.9.0' }])
      const { detail } = await refused({ migrate: true }, 'WP_RELEASE_SERVERS_OLDER')
      assert.match(detail, /: old \(0\.9\.0\)$/)
    })

    test('is refused for changes with errors', async () => {
      await begin()
      await write({ 'waypost.yml': yml.replace('action: List', 'action: Missing') })
      const planned = await plan()
      assert.deepEqual([planned.release, planned.diagnostics[0].severity], [null, 'error'])
      const { diagnostics } = await refused({}, 'WP_BACKEND_PUBLISH_BROKEN')
      assert.deepEqual([diagnostics[0].file, diagnostics[0].line], ['waypost.yml', 6])
      await write({ 'waypost.yml': (list('app_other') + route('/note')).replace('List:', 'List:') })
      assert.match((await refused({}, 'WP_BACKEND_PUBLISH_BROKEN')).diagnostics[0].message, /app_other/)
    })

    test('fails with a migration that fails: the old release and the draft stay', async () => {
      await begin()
      const before = await activeId()
      await sql`create table app_taken (id integer)`.execute(world.system.db)
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
      await sql`drop table app_taken`.execute(world.system.db)
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

    // In CI, faults/publish-killed.test.ts kills one.
    longTest('that was begun by a server which stopped counts as failed, and another one can begin', async () => {
      await write(first)
      const row = {
        id: 'p1',
        state: 'activating',
        release_id: 'abc',
        by_name: 'bob',
        detail: '{"migrated":[]}',
      } as const
      const { now } = await world.system.db.selectNoFrom(world.system.now().as('now')).executeTakeFirstOrThrow()
      const insert = (at: number) =>
        world.system.db
          .insertInto('waypost_publish')
          .values({ ...row, created_at: at, updated_at: at })
          .execute()
      await insert(now)
      await refused({ migrate: true }, 'WP_BACKEND_PUBLISH_RUNNING')
      await world.system.db
        .updateTable('waypost_publish')
        .set({ updated_at: now - 31_000 })
        .execute()
      const { state, error } = (await world.call('GET /publish/p1')).body
      assert.deepEqual([state, error.code], ['failed', 'WP_BACKEND_PUBLISH_STOPPED'])
      await publish({ migrate: true })
      assert.equal((await world.call('GET /publish/p1')).body.state, 'failed')
      assert.equal((await world.call('GET /publish/p2')).status, 404)
    })

    // In CI, rollback.test.ts keeps such a draft.
    longTest('can be undone by a rollback that keeps what it undoes as a draft', async () => {
      await begin()
      const one = (await activeId())!
      await write({ 'waypost.yml': yml + events('added') })
      const { release: two } = await publish()
      const back = (id: string, against: string) =>
        world.call(`POST /release/${id}/rollback`, { json: { against, keep_as_draft: true } })
      assert.deepEqual((await back(one, two)).body, { id: one, activated: true })
      assert.deepEqual(await names(), ['/event/added'])
      const { entries } = (await world.call('GET /draft')).body
      assert.deepEqual([entries[0].name, typeof entries[0].by], ['/event/added', 'string'])
      assert.match((await back(two, one)).body.type, /#WP_BACKEND_ROLLBACK_DRAFT$/)
      assert.equal(await activeId(), one)
      assert.equal((await publish()).release, two)
      assert.deepEqual(await names(), [])
    })

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
        return (await world.call('POST /draft/migration', { json })).body.change.file as string
      }
      const file = await create('a')
      const { release: two } = await publish({ migrate: true })
      const undone = await world.call(`POST /release/${one}/rollback`, { json: { against: two } })
      assert.equal(undone.status, 200, undone.text)
      const again = await create('b')
      assert.notEqual(again, file)
      assert.ok(file < again)
      assert.equal((await start({ migrate: true })).status, 202)
    })

    test('a migration with the name of one that ran, and another text, can be discarded', async () => {
      await begin()
      const one = (await activeId())!
      const file = 'migrations/System/20261102-two.yml'
      const two = createNote.replace('app_note', 'app_two')
      await write({ [file]: two })
      const { release } = await publish({ migrate: true })
      const undone = await world.call(`POST /release/${one}/rollback`, { json: { against: release } })
      assert.equal(undone.status, 200, undone.text)
      await write({ [file]: two.replace('200', '100') })
      await refused({ migrate: true }, 'WP_SERVER_MIGRATIONS_EDITED')
      const { body } = await world.call('POST /draft/discard', { json: {} })
      assert.deepEqual([body.kept, await names()], [[], []])
      await write({ [file]: two })
      assert.equal(
        (await world.call('POST /draft/discard', { json: {} })).body.kept.length,
        1,
        'the text that ran stays',
      )
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
      const editor = await world.as('backend.read', 'backend.write')
      const files = {
        'waypost.yml': `${yml}connection:\n  Other: { class: postgresql, config: { url: '${url}' } }\n`,
        'migrations/Other/20261102-two.yml': createNote,
      }
      const { texts } = await draft.read()
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
}

test('a rollback keeps no draft where WAYPOST_BACKEND=read turns drafts off', async () => {
  const world = await openAdmin('sqlite', { variables: { WAYPOST_BACKEND: 'read' } })
  const one = await activateRelease(world.system, makeRelease('one'), { by: 'ann' })
  const two = await activateRelease(world.system, makeRelease('two'), { by: 'ann' })
  const json = { against: two.id, keep_as_draft: true }
  const refused = await world.call(`POST /release/${one.id}/rollback`, { json })
  assert.match(refused.body.type, /#WP_BACKEND_DRAFT$/)
  assert.equal((await loadActiveRelease(world.system))?.id, two.id)
  const done = await world.call(`POST /release/${one.id}/rollback`, { json: { against: two.id } })
  assert.equal(done.status, 200, done.text)
  await world.close()
})
