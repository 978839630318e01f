import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { request } from 'node:http'
import type { Worker } from 'node:worker_threads'
import { setTimeout as pause } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { sha256, version } from '../../src/kit/index.ts'
import { activateRelease, loadActiveRelease, type BuiltRelease } from '../../src/release/index.ts'
import type { Credentials } from '../auth/world.ts'
import { chooseKinds, longTest } from '../support/forms.ts'
import { bearer } from '../support/server.ts'
import { until } from '../support/until.ts'
import { makeExpensive, makeGreeting, openDeployers, type Call, type Deployers } from './deployers.ts'

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

    /** @returns a function that starts a request whose body does not end */
    const beginner = async (client: Credentials) => {
      const { access_token: token } = (await world.token(client, { grant_type: 'client_credentials' })).body
      const headers = { ...bearer(token), 'content-type': 'application/json' }
      return () => {
        const unfinished = request(`${world.url}/backend/deploy/survey`, { method: 'POST', headers })
        unfinished.on('error', () => undefined)
        unfinished.write('{"protocol": 2,')
        return unfinished
      }
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

    test('reads no body above the size limit, compressed or uncompressed, and no invalid JSON', async () => {
      const { access_token: token } = (await world.token(world.deployClient, { grant_type: 'client_credentials' })).body
      const post = async (bytes: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) => {
        const response = await fetch(`${world.url}/backend/deploy/survey`, {
          method: 'POST',
          headers: { ...bearer(token), 'content-type': 'application/json', ...headers },
          body: bytes,
        })
        return [response.status, ((await response.json()) as { type: string }).type.split('#')[1]]
      }
      const gzip = { 'content-encoding': 'gzip' }
      const bomb = gzipSync(Buffer.alloc(200 * 1024 * 1024, '['))
      assert.ok(bomb.length < 1024 * 1024)
      assert.deepEqual(await post(bomb, gzip), [413, 'WP_BACKEND_BODY_SIZE'])
      assert.deepEqual(await post(gzipSync('['.repeat(1_000_000)), gzip), [400, 'WP_BACKEND_BODY'])
      assert.deepEqual(await post('{}', gzip), [400, 'WP_BACKEND_BODY'])
      assert.deepEqual(await post('{"__proto__": {}}'), [400, 'WP_BACKEND_BODY'])
      assert.deepEqual(await post(Uint8Array.of(0x22, 0xff, 0x22)), [400, 'WP_BACKEND_BODY'])
      assert.deepEqual(await post('{}', { 'content-encoding': 'br' }), [415, 'WP_BACKEND_BODY_ENCODING'])
      assert.deepEqual(await post('a=b', { 'content-type': 'application/x-www-form-urlencoded' }), [
        415,
        'WP_RUNTIME_BODY_TYPE',
      ])
    })

    test('reads no number beyond a double, compressed or uncompressed', async () => {
      const { access_token: token } = (await world.token(world.deployClient, { grant_type: 'client_credentials' })).body
      const built = JSON.stringify(body(makeGreeting('infinite')))
      const text = `${built.slice(0, -1)}, "more": { "value": 1e400 } }`
      for (const [line, headers, bytes] of [survey, upload, activate].flatMap((one) => [
        [one, {}, text] as const,
        [one, { 'content-encoding': 'gzip' }, gzipSync(text)] as const,
      ])) {
        const response = await fetch(`${world.url}${line.split(' ')[1]}`, {
          method: 'POST',
          headers: { ...bearer(token), 'content-type': 'application/json', ...headers },
          body: bytes,
        })
        const { type, detail } = (await response.json()) as { type: string; detail: string }
        assert.deepEqual([response.status, type.split('#')[1]], [400, 'WP_BACKEND_BODY'], line)
        assert.match(detail, /larger than 1\.8e308/, line)
      }
    })

    test('accepts four concurrent requests of one client; abandoned requests do not count', async () => {
      const begin = await beginner(world.deployClient)
      const built = body(makeGreeting('busy'))
      for (let round = 0; round < 3; round += 1) {
        const unfinished: ReturnType<typeof begin>[] = []
        let answer = await world.deploy(survey, built)
        await until('one is sent away', async () => {
          unfinished.push(begin()) // those beyond the fourth are rejected
          await pause(50)
          answer = await world.deploy(survey, built)
          return answer.status === 429
        })
        assert.equal(codeOf(answer), 'WP_BACKEND_CLIENT_BUSY')
        assert.equal(answer.headers.get('retry-after'), '1')
        assert.equal((await world.deployOther(survey, built)).status, 200)
        for (const one of unfinished) one.destroy()
        await until('there is a place again', async () => {
          await pause(50)
          return (await world.deploy(survey, built)).status === 200
        })
        world.clock.forward(60_000)
      }
    })

    test('accepts twelve concurrent requests and asks others to wait', async () => {
      const built = body(makeGreeting('busy'))
      const begins = await Promise.all([1, 2, 3].map(async (n) => beginner(await world.addDeployClient(`busy ${n}`))))
      const unfinished: ReturnType<(typeof begins)[number]>[] = []
      let answer = await world.deploy(survey, built)
      await until('one is sent away', async () => {
        unfinished.push(...begins.map((begin) => begin())) // those beyond the twelfth are rejected
        await pause(50)
        answer = await world.deploy(survey, built)
        return answer.status === 503
      })
      assert.equal(codeOf(answer), 'WP_BACKEND_BUSY')
      for (const one of unfinished) one.destroy()
      await until('there is a place again', async () => {
        await pause(50)
        return (await world.deploy(survey, built)).status === 200
      })
      world.clock.forward(60_000)
    })

    // In CI, body-thread.test.ts has this and the next one.
    longTest('lets clients take turns', async () => {
      const ended: string[] = []
      const expensive = [1, 2, 3, 4, 5].map(async (n) => {
        const { status } = await world.deploy(survey, body(makeExpensive(300 + n)))
        ended.push(`expensive ${status}`)
      })
      await until('the fifth is sent away', () => ended.length > 0)
      assert.equal((await world.deployOther(survey, body(makeGreeting('other')))).status, 200)
      ended.push('other')
      await Promise.all(expensive)
      assert.equal(ended[0], 'expensive 429')
      assert.ok(ended.indexOf('other') < 5, ended.join())
      world.clock.forward(60_000)
    })

    longTest('stops checking the bodies of abandoned requests', async () => {
      const threads: Worker[] = []
      const count = (thread: Worker) => void threads.push(thread)
      process.on('worker', count)
      const leaving = new AbortController()
      const { access_token: token } = (await world.token(world.deployClient, { grant_type: 'client_credentials' })).body
      const headers = { ...bearer(token), 'content-type': 'application/json' }
      const abandoned = [1, 2, 3, 4, 5].map((n) =>
        fetch(`${world.url}/backend/deploy/survey`, {
          method: 'POST',
          headers,
          body: JSON.stringify(body(makeExpensive(50_000 + n))), // a minute each
          signal: leaving.signal,
        }),
      )
      assert.equal((await Promise.race(abandoned)).status, 429)
      leaving.abort()
      await Promise.allSettled(abandoned)
      assert.equal((await world.deployOther(survey, body(makeGreeting('other')))).status, 200)
      assert.ok(threads.length <= 2, `${threads.length} threads were started`) // one of them of the other client
      process.off('worker', count)
      world.clock.forward(60_000)
    })

    test('callers with backend.read only cannot prevent deployments', async () => {
      const begin = await beginner(world.planClient)
      const built = body(makeGreeting('looking'))
      const unfinished: ReturnType<typeof begin>[] = []
      await until('one is sent away', async () => {
        unfinished.push(begin())
        await pause(50)
        return (await world.plan(survey, built)).status === 429
      })
      const deployed = await world.deploy(survey, built)
      assert.equal(deployed.status, 200, deployed.text)
      for (const one of unfinished) one.destroy()
      await until('there is a place again', async () => {
        await pause(50)
        return (await world.plan(survey, built)).status === 200
      })
      world.clock.forward(60_000)
    })

    test('limits the rate of requests, and returns when to retry', async () => {
      const built = body(makeGreeting('often'))
      let last = await world.plan(survey, built)
      await until('it is too many', async () => {
        last = await world.plan(survey, built)
        return last.status === 429
      })
      assert.equal(codeOf(last), 'WP_BACKEND_RATE')
      assert.ok(Number(last.headers.get('retry-after')) > 0)
      world.clock.forward(60_000)
      assert.equal((await world.plan(survey, built)).status, 200)
    })
  })
}
