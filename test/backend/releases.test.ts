import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { sha256, version } from '../../src/kit/index.ts'
import { activateRelease, loadActiveRelease, type BuiltRelease } from '../../src/release/index.ts'
import { chooseKinds } from '../support/forms.ts'
import { makeGreeting, openDeployers, type Call, type Deployers } from './deployers.ts'

const survey = 'POST /backend/deploy/survey'
const upload = 'POST /backend/deploy/artifact'
const activate = 'POST /backend/deploy'
const body = ({ manifest }: BuiltRelease, more: object = {}) => ({ protocol: 2, manifest, ...more })
const codeOf = ({ body: problem }: Awaited<ReturnType<Call>>) => String(problem.type).split('#')[1]

for (const kind of chooseKinds('sqlite')) {
  describe(`/backend/deploy on ${kind}`, () => {
    let world: Deployers
    before(async () => {
      world = await openDeployers(kind)
    })
    after(() => world.close())

    const rows = async () => {
      const tables = ['waypost_release', 'waypost_artifact', 'waypost_upload'] as const
      const counts = tables.map(async (table) => (await world.system.db.selectFrom(table).selectAll().execute()).length)
      return Promise.all(counts)
    }
    const uploadAll = async ({ artifacts }: BuiltRelease) => {
      const answer = await world.deploy(upload, { protocol: 2, artifacts })
      assert.equal(answer.status, 200, answer.text)
    }

    test('rejects requests without a token, and names the scope that a token lacks', async () => {
      const lines = ['GET /backend/deploy/access', 'GET /backend/deploy/server', survey, upload, activate]
      for (const line of lines) {
        const json = line.startsWith('GET') ? undefined : {}
        assert.equal((await world.nobody(line, json)).status, 401, line)
        const refused = await world.stranger(line, json)
        assert.deepEqual([refused.status, codeOf(refused)], [403, 'WP_AUTH_SCOPE'], line)
      }
      for (const line of [lines[0]!, upload, activate]) {
        const refused = await world.plan(line, line.startsWith('GET') ? undefined : {})
        assert.deepEqual([refused.status, codeOf(refused)], [403, 'WP_AUTH_SCOPE'], line)
        assert.match(refused.body.hint, /backend\.deploy/)
      }
    })

    test('returns with backend.read what a release would need, and changes nothing', async () => {
      const built = makeGreeting('hello', {
        scopes: { note: {}, 'nobody-has-it': {} },
        events: { greeted: { scopes: ['nobody-has-it', 'note'] } },
        migrations: [{ connection: 'System', name: '1-first', checksum: 'a'.repeat(64), artifact: '' }].map((one) => ({
          ...one,
          artifact: Object.keys(makeGreeting('hello').manifest.artifacts)[0]!,
        })),
      })
      const before = await rows()
      const { status, body: found, headers } = await world.plan(survey, body(built))
      assert.equal(status, 200, JSON.stringify(found))
      assert.equal(headers.get('cache-control'), 'no-store')
      assert.deepEqual(
        {
          ...found,
          id: found.id.length,
          changes: found.changes.map(({ change, name }: Readonly<Record<string, string>>) => `${change} ${name}`),
        },
        {
          id: 64,
          built: version,
          active: null,
          changes: ['added GET /greet', 'added nobody-has-it', 'added note', 'added greeted', 'added System/1-first'],
          accessWarnings: [],
          rollbacks: { reachable: [], lost: [], migrations: [] },
          filesChanged: false,
          changedSinceGit: false,
          breakingChanges: 'warn',
          olderServers: [],
          failingActions: [],
          droppedMigrations: [],
          missingArtifacts: [built.artifacts[0]!.hash],
          unheldScopes: ['nobody-has-it'],
          missingVariables: [],
          pendingMigrations: ['System/1-first'],
        },
      )
      assert.deepEqual(await rows(), before)
      const refused = await world.deploy(activate, body(built))
      assert.deepEqual([refused.status, codeOf(refused)], [409, 'WP_RELEASE_MIGRATIONS_PENDING'])
      assert.deepEqual(await rows(), before)
    })

    test('refuses definition files that no project sends, and stores none of them', async () => {
      const built = makeGreeting('files')
      await uploadAll(built)
      const hash = sha256('a: 1')
      const root = { 'waypost.yml': hash }
      const many = Object.fromEntries(Array.from({ length: 2000 }, (_, index) => [`resources/${index}.yml`, hash]))
      for (const [what, files, problem] of [
        ['.env', { ...root, '.env': hash }, /dot/],
        ['package.json', { ...root, 'package.json': hash }, /other tools/],
        ['a path out of the project', { ...root, 'resources/../../x.yml': hash }, /dot/],
        ['an absolute path', { ...root, '/etc/x.yml': hash }, /characters/],
        ['code', { ...root, 'src/a.ts': hash }, /neither a \.yml nor/],
        ['two paths that differ in case', { ...root, 'Waypost.yml': hash }, /upper and lower case/],
        ['too many', { ...root, ...many }, /more than 2000 files/],
        ['no hash', { ...root, 'a.yml': 'x' }, /no SHA-256/],
        ['no waypost.yml', { 'a.yml': hash }, /missing/],
        ['a list', [hash], /neither/],
        ['a text', 'waypost.yml', /neither/],
      ] as const) {
        for (const line of [survey, activate]) {
          const refused = await world.deploy(line, body(built, { files }))
          assert.deepEqual([refused.status, codeOf(refused)], [400, 'WP_BACKEND_FILES'], what)
          assert.match(refused.body.detail, problem, what)
        }
      }
      const missing = await world.deploy(activate, body(built, { files: root }))
      assert.deepEqual([missing.status, codeOf(missing)], [409, 'WP_BACKEND_ARTIFACTS_MISSING'])
      const large = `"${'x'.repeat(1024 * 1024)}"`
      await uploadAll({ ...built, artifacts: [{ hash: sha256(large), content: large }] })
      const refused = await world.deploy(activate, body(built, { files: { 'waypost.yml': sha256(large) } }))
      assert.deepEqual([refused.status, codeOf(refused)], [400, 'WP_BACKEND_FILES'])
      assert.equal((await world.system.db.selectFrom('waypost_file').selectAll().execute()).length, 0)
      const wrong = await world.deploy(activate, body(built, { commit: 'main' }))
      assert.equal(wrong.status, 400)
      await world.system.db.deleteFrom('waypost_upload').execute()
    })

    test('tells clients of the earlier protocol which version to use', async () => {
      for (const line of ['GET /backend/release/access', 'GET /backend/release/server']) {
        const refused = await world.deploy(line)
        assert.deepEqual([refused.status, codeOf(refused)], [400, 'WP_BACKEND_PROTOCOL'], line)
        assert.match(refused.body.hint, new RegExp(`npx waypost@${version} deploy`))
        assert.equal((await world.nobody(line)).status, 401)
      }
    })

    test('stores missing artifacts, activates the release atomically, and records the actor', async () => {
      const built = makeGreeting('first')
      const early = await world.deploy(activate, body(built, { against: 'none' }))
      assert.deepEqual([early.status, codeOf(early)], [409, 'WP_BACKEND_ARTIFACTS_MISSING'])
      assert.deepEqual(await rows(), [0, 0, 0])

      await uploadAll(built)
      assert.deepEqual(await rows(), [0, 0, 1])
      assert.deepEqual((await world.plan(survey, body(built))).body.missingArtifacts, [])
      const { id } = (await world.plan(survey, body(built))).body
      const done = await world.deploy(activate, body(built, { against: 'none', message: 'Größer' }))
      assert.deepEqual([done.status, done.body], [200, { id, activated: true, recorded: true }])
      assert.deepEqual(await rows(), [1, 1, 0], 'the upload has become an artifact of the release')

      const active = await loadActiveRelease(world.system)
      assert.deepEqual([active?.id, active?.manifest, active?.activatedBy], [id, built.manifest, 'bo (pipeline)'])
      const row = await world.system.db.selectFrom('waypost_activation').selectAll().executeTakeFirstOrThrow()
      assert.deepEqual([row.user_id, row.client_id, row.message], [world.boId, world.deployClient.id, 'Größer'])

      const again = await world.deploy(activate, body(built, { against: id.slice(0, 8) }))
      assert.deepEqual([again.status, again.body], [200, { id, activated: false, recorded: false }])
      const seen = (await world.plan(survey, body(built))).body
      assert.deepEqual([seen.id, seen.active.id, seen.active.activatedBy, seen.changes], [id, id, 'bo (pipeline)', []])
    })

    test('rejects an activation if the active release is not the expected one', async () => {
      const { id } = (await loadActiveRelease(world.system))!
      const next = makeGreeting('second')
      await uploadAll(next)
      for (const against of ['none', 'ffff0000']) {
        const refused = await world.deploy(activate, body(next, { against }))
        assert.deepEqual([refused.status, codeOf(refused)], [409, 'WP_RELEASE_SUPERSEDED'])
      }
      assert.equal((await loadActiveRelease(world.system))?.id, id)
      const two = await Promise.all(
        [next, makeGreeting('third')].map(async (built) => {
          await uploadAll(built)
          return world.deploy(activate, body(built, { against: id }))
        }),
      )
      assert.deepEqual(new Set(two.map(({ status }) => status)), new Set([200, 409]))
    })

    test('serves a release only after its activation, and repairs damage in System', async () => {
      const built = makeGreeting('mended')
      const [artifact] = built.artifacts
      await activateRelease(world.system, built, { by: 'somebody else' })
      await world.system.db
        .updateTable('waypost_artifact')
        .set({ content: 'evil' })
        .where('hash', '=', artifact!.hash)
        .execute()
      const refused = await world.deploy(activate, body(built))
      assert.deepEqual([refused.status, codeOf(refused)], [409, 'WP_BACKEND_ARTIFACTS_MISSING'])
      await uploadAll(built)
      assert.equal((await world.deploy(activate, body(built))).status, 200)
      const { content } = await world.system.db
        .selectFrom('waypost_artifact')
        .select('content')
        .where('hash', '=', artifact!.hash)
        .executeTakeFirstOrThrow()
      assert.equal(content, artifact!.content)

      const { id } = (await loadActiveRelease(world.system))!
      await world.system.db.updateTable('waypost_release').set({ manifest: '{}' }).where('id', '=', id).execute()
      assert.equal((await world.deploy(survey, body(built))).status, 200)
      assert.equal((await world.deploy(activate, body(built))).body.activated, false)
      assert.deepEqual((await loadActiveRelease(world.system))?.manifest, built.manifest)
    })

    test('stores no artifact whose content does not match its hash, nor others of the same request', async () => {
      const [good] = makeGreeting('good').artifacts
      const before = await rows()
      const wrong = { hash: sha256('one'), content: 'another' }
      const answers = [
        await world.deploy(upload, { protocol: 2, artifacts: [good, wrong] }),
        await world.deploy(upload, { protocol: 2, artifacts: [good, { hash: sha256('a\0'), content: 'a\0' }] }),
        await world.deploy(upload, { protocol: 2, artifacts: [{ hash: '../evil', content: '' }] }),
        await world.deploy(upload, { protocol: 2, artifacts: [{ ...good, more: 1 }] }),
        await world.deploy(upload, { protocol: 2, artifacts: [] }),
        await world.deploy(upload, { protocol: 1, artifacts: [good] }),
      ]
      assert.deepEqual(
        answers.map((answer) => [answer.status, codeOf(answer)]),
        [
          [400, 'WP_BACKEND_ARTIFACT_HASH'],
          [400, 'WP_BACKEND_BODY'],
          [400, 'WP_RUNTIME_REQUEST_INVALID'],
          [400, 'WP_RUNTIME_REQUEST_INVALID'],
          [400, 'WP_RUNTIME_REQUEST_INVALID'],
          [400, 'WP_BACKEND_PROTOCOL'],
        ],
      )
      assert.match(answers[5]!.body.hint, new RegExp(`npx waypost@${version} deploy`))
      assert.deepEqual(await rows(), before)
    })
  })
}
