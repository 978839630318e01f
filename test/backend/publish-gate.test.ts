import assert from 'node:assert/strict'
import { test } from 'node:test'
import { activateRelease, loadActiveRelease } from '../../src/release/index.ts'
import { openIdentity, withSystemVariables } from '../../src/host/index.ts'
import { loadUserScopes, resolveUser } from '../../src/auth/index.ts'
import { recordStatistics } from '../../src/operate/index.ts'
import { makeRelease } from '../release/system.ts'
import { describePublishing, events, list, route, yml } from './publishing.ts'
import { longTest } from '../support/forms.ts'

interface Change {
  readonly change: string
  readonly kind: string
  readonly name: string
  readonly breaking: boolean
}

describePublishing('what publishing a draft needs', (publishing) => {
  const { write, activeId, publish, refused, plan, begin, addServer } = publishing

  test('is refused while another release is active, and for changes that a deployment made differently', async () => {
    await begin()
    await write({ 'waypost.yml': yml + events('mine') })
    await refused({ against: null }, 'WP_RELEASE_SUPERSEDED')
    const deploy = async (text: string) => {
      const texts = new Map([...(await publishing.draft.readState()).base.texts, ['waypost.yml', text]])
      const release = await publishing.draft.link(await publishing.draft.load(texts))
      const files = [...texts].map(([path, content]) => ({ path, content }))
      await activateRelease(publishing.world.system, release, { by: 'ann', files })
    }
    await deploy(yml + events('theirs'))
    await publish()
    assert.deepEqual(Object.keys((await loadActiveRelease(publishing.world.system))!.manifest.events), [
      'mine',
      'theirs',
    ])
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
    const { now } = await publishing.world.system.db
      .selectNoFrom(publishing.world.system.now().as('now'))
      .executeTakeFirstOrThrow()
    await recordStatistics(publishing.world.system, [called], now)
    await write({ 'waypost.yml': yml.replace('/note', '/notes') })
    const planned = await plan()
    const removed = planned.changes.find((one: Change) => one.breaking)
    assert.deepEqual([removed.change, removed.name, removed.calls], ['removed', 'GET /note', 12])
    assert.equal(planned.breaking_changes, 'warn')
    await refused({}, 'WP_RELEASE_BREAKING_CHANGES')
    await publish({ allow_breaking: true })
  })

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
    const { secrets } = await openIdentity(publishing.world.host)
    const stage = (id: string, value: string) =>
      publishing.world.system.db
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
    assert.equal((await withSystemVariables(publishing.world.host)).variables['TOKEN'], 'hidden-value')
    const staged = await publishing.world.system.db.selectFrom('waypost_draft_variable').select('id').execute()
    assert.deepEqual(staged, [{ id: 'OTHER' }])
    await write({ 'waypost.yml': `${yml}${env}config: { title: "\${env.TOKEN}" }\n` })
    assert.deepEqual((await plan()).new_variable_uses, [{ name: 'TOKEN', uses: ['setting title'] }])
    const audit = (await publishing.world.call('GET /audit?action=variable.set')).text
    assert.match(audit, /TOKEN/)
    assert.doesNotMatch(audit, /hidden-value/)
  })

  test('can give the caller a scope that no one has, if the caller may grant scopes', async () => {
    await begin()
    const scopes = 'scope:\n  note: { description: Notes }\n'
    await write({ 'waypost.yml': yml.replace('public: true,', 'scopes: [note],') + scopes })
    await publishing.world.system.db.deleteFrom('waypost_user_scope').where('scope', '=', 'note').execute()
    assert.deepEqual((await plan()).unheld_scopes, ['note'])
    const deployer = await publishing.world.as('backend.deploy', 'backend.read')
    const json = { against: await activeId(), grant: ['note'], allow_breaking: true }
    assert.match((await deployer('POST /draft/publish', { json })).body.type, /#WP_BACKEND_PUBLISH_GRANT$/)
    for (const scope of ['other', 'backend.admin'])
      await refused({ grant: ['note', scope], allow_breaking: true }, 'WP_BACKEND_PUBLISH_SCOPE')
    await publish({ grant: ['note'], allow_breaking: true })
    const { id } = await resolveUser(publishing.world.system, 'root')
    assert.ok((await loadUserScopes(publishing.world.system.db, id)).includes('note'))
    assert.match((await publishing.world.call('GET /audit?action=user.scopes')).text, /note/)
  })

  // In CI, release-gate.test.ts has this rule at every entrance.
  longTest('is refused while a live server has an older version', async () => {
    await begin()
    await write({ 'waypost.yml': yml + events('new') })
    await addServer('old', { version: '0.9.0' })
    assert.deepEqual((await plan()).older_servers, [{ name: 'old', version: '0.9.0' }])
    const { detail } = await refused({}, 'WP_RELEASE_SERVERS_OLDER')
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

  test('is refused if a newer version built the active release', async () => {
    await begin()
    const { manifest, artifacts } = makeRelease('newer')
    const newer = { manifest: { ...manifest, waypost: '99.0.0' }, artifacts }
    await activateRelease(publishing.world.system, newer, { by: 'ann', files: [{ path: 'waypost.yml', content: '' }] })
    const { status, body } = await publishing.world.call('POST /draft/plan', { json: {} })
    assert.equal(status, 409)
    assert.match(body.detail, /built by waypost 99\.0\.0/)
  })
})

describePublishing('publishing a draft that rollbacks cannot pass', (publishing) => {
  const { write, activeId, publish, plan, begin } = publishing

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
      const { status, body } = await publishing.world.call(`GET /release/${first}/rollback`)
      assert.deepEqual([status, body.problem.code], [200, 'WP_RELEASE_BREAKING'])
      assert.match(body.problem.message, /20261102-drop \(drops app_note\.text\)/)
    },
  )
})
