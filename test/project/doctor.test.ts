import assert from 'node:assert/strict'
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { addUser } from '../../src/auth/index.ts'
import { systemClock, type Variables } from '../../src/kit/index.ts'
import { doctor } from '../../src/project/index.ts'
import { executeHostEvents } from '../../src/jobs/index.ts'
import { makeSecrets, replaceFact } from '../../src/store/index.ts'
import { startPostgres, type TestPostgres } from '../support/postgres.ts'
import { chooseKinds } from '../support/forms.ts'
import {
  useDeployedProject,
  secret,
  baseUrl,
  migration,
  files,
  type Check,
  show,
  find,
  makeFolder,
  snapshot,
  dump,
} from './doctor-project.ts'

let postgres: TestPostgres
before(async () => {
  postgres = await startPostgres()
})
after(() => postgres.stop())

for (const kind of chooseKinds('postgresql')) {
  describe(`doctor, a deployed project on ${kind}`, () => {
    const deployed = useDeployedProject(kind, () => postgres.createDatabase())
    const { run, addServer, addDeliveries, clear } = deployed

    test('all is well', async () => {
      const active = await deployed.host.system.db
        .selectFrom('waypost_active')
        .select('release_id')
        .executeTakeFirstOrThrow()
      for (const name of ['app-1', 'app-2']) await addServer(name, { release_id: active.release_id })
      await addServer('app-0', { release_id: 'older', heartbeat_at: 1000 }) // no longer alive
      await executeHostEvents(deployed.host)
      const report = await run()
      assert.deepEqual(
        show(report).map((line) => line.replace(/\d+\.\d s\b|\d+ s\b(?= ago)|\b[0-9a-f]{8}\b/g, '…')),
        [
          `ok node: Node ${process.versions.node}`,
          `ok project: Project ${path.basename(deployed.folder)}, 1 route, valid`,
          `ok system: System ${deployed.host.system.target.replace(`${deployed.folder}/`, '')}, migrated`,
          'ok migrations: 1 migration of the project applied',
          'ok secret: WAYPOST_SECRET decrypts the secrets in System',
          'ok base-url: WAYPOST_BASE_URL https://api.example.com, the same on 2 servers',
          "ok clock: Clock … from the database's",
          'ok release: Release … is active; app-1 and app-2 serve it',
          'ok variables: Variables of the release are set: OTHER_URL',
          'ok events: event:execute last ran … ago, no deliveries waiting',
        ],
      )
      assert.equal(report.ok, true)
      await clear()
    })

    test('servers that have not been started again since issuer:change are named', async () => {
      const active = await deployed.host.system.db
        .selectFrom('waypost_active')
        .select('release_id')
        .executeTakeFirstOrThrow()
      const release_id = active.release_id
      await addServer('app-1', { release_id, issuer: 'https://api.example.com' })
      for (const id of ['3000', '3001'])
        await addServer(`app-2:${id}`, { id, release_id, issuer: 'https://old.example.com' })
      const report = await run()
      const { state, message, next } = find(report, 'base-url')
      assert.equal(state, 'warn')
      assert.equal(
        message,
        'WAYPOST_BASE_URL https://api.example.com, but app-2:3000 and app-2:3001 still use https://old.example.com',
      )
      assert.match(next ?? '', /Restart these servers with the new WAYPOST_BASE_URL/)
      assert.match(find(report, 'release').message, /; app-1, app-2:3000 and app-2:3001 serve it$/)
      await clear()
    })

    test('it changes neither a file nor a row, and prints no secret', async () => {
      await addDeliveries(1)
      const [filesBefore, rowsBefore] = [await snapshot(deployed.folder), await dump(deployed.host)]
      const reports = [await run(), await run({ WAYPOST_SECRET: `${secret}, but another` })]
      assert.deepEqual(await dump(deployed.host), rowsBefore)
      assert.deepEqual(await snapshot(deployed.folder), filesBefore)
      for (const text of [secret, 'waypost-test', 'other-password'])
        assert.ok(!JSON.stringify(reports).includes(text), text)
      await clear()
    })

    const wrong: readonly { name: string; variables: Variables; check: string; says: RegExp; next: RegExp }[] = [
      {
        name: 'another secret',
        variables: { WAYPOST_SECRET: `x${secret}` },
        check: 'secret',
        says: /is not the secret that System/,
        next: /the current secret/,
      },
      {
        name: 'a short secret',
        variables: { WAYPOST_SECRET: 'short' },
        check: 'secret',
        says: /has 5 characters/,
        next: /openssl rand/,
      },
      {
        name: 'no secret',
        variables: { WAYPOST_SECRET: '' },
        check: 'secret',
        says: /WAYPOST_SECRET is required/,
        next: /Set it to the secret/,
      },
      {
        name: 'another base URL',
        variables: { WAYPOST_BASE_URL: 'https://b.example' },
        check: 'base-url',
        says: /is https:\/\/b\.example, but .* https:\/\/api\.example\.com/,
        next: /Set WAYPOST_BASE_URL to/,
      },
      {
        name: 'a base URL that is none',
        variables: { WAYPOST_BASE_URL: 'api' },
        check: 'base-url',
        says: /"api" is not a valid WAYPOST_BASE_URL/,
        next: /absolute/,
      },
    ]
    for (const { name, variables: over, check, says, next } of wrong) {
      test(`${name} fails`, async () => {
        const report = await run(over)
        const found = find(report, check)
        assert.deepEqual([found.state, report.ok], ['fail', false])
        assert.match(found.message, says)
        assert.match(found.next ?? '', next)
      })
    }

    test('a secret that is not random is a warning, and is not shown', async () => {
      const older = '0f1c7a9be2d84653b7c0e19f6a2d58c4'
      const weak = [
        'a'.repeat(40),
        'abcdefghijklmnopqrstuvwxyz0123456789',
        'k3Vx8qPd'.repeat(5),
        'change-me-'.repeat(4),
        'correct-horse-battery-staple-correct',
      ]
      const random = [older, 'J7Q2MZ5XKD3W6HRT4BNVY2PCGA7LFS5E', '83920174650918273645564738291036']
      const states = async (texts: readonly string[]) => {
        const reports = await Promise.all(texts.map((text) => run({ WAYPOST_SECRET: `${text},${secret}` })))
        return reports.map((report) => find(report, 'secret'))
      }
      for (const { state, message, next, command } of await states(weak)) {
        assert.equal(state, 'warn')
        assert.match(message, /^WAYPOST_SECRET is not random/)
        assert.ok(!weak.some((text) => message.includes(text)))
        assert.deepEqual(
          [next, command],
          ['Generate another one, then change it as docs/secrets.md describes:', 'openssl rand -base64 32'],
        )
      }
      for (const { message } of await states(random)) assert.doesNotMatch(message, /not random/)
    })

    test('a base URL without TLS is a warning, unless it is this machine', async () => {
      const change = (issuer: string) => replaceFact(deployed.host.system, 'issuer', issuer)
      await change('http://api.example.com/v1')
      const found = find(await run({ WAYPOST_BASE_URL: 'http://api.example.com/v1/' }), 'base-url')
      assert.equal(found.state, 'warn')
      assert.match(found.message, /http:\/\/api\.example\.com\/v1.*; it is not https/)
      assert.equal(found.command, 'waypost issuer:change https://api.example.com/v1')
      await change('http://localhost:3000')
      assert.equal(find(await run({ WAYPOST_BASE_URL: '' }), 'base-url').state, 'ok')
      await change(baseUrl)
    })

    test('a secret that is accepted and does not open a key fails', async () => {
      const rows = await deployed.host.system.db.selectFrom('waypost_key').selectAll().execute()
      const id = rows[0]?.id ?? 'key_1'
      const sealed = makeSecrets(`${secret}-older`).seal('{}', { table: 'waypost_key', row: id, column: 'private_jwk' })
      await deployed.host.system.db
        .insertInto('waypost_key')
        .values({ id: 'key_2', public_jwk: '{}', private_jwk: sealed, created_at: 1, retired_at: null })
        .execute()
      const { state, message } = find(await run(), 'secret')
      assert.deepEqual([state, /cannot be decrypted/.test(message)], ['fail', true])
      await deployed.host.system.db.deleteFrom('waypost_key').where('id', '=', 'key_2').execute()
    })

    test('a base URL that is not set is the one that System remembers', async () => {
      const { state, message } = find(await run({ WAYPOST_BASE_URL: '' }), 'base-url')
      assert.deepEqual([state, message], ['ok', `WAYPOST_BASE_URL is not set; System uses ${baseUrl}`])
    })

    const clocks: readonly (readonly [seconds: number, state: Check['state'], says: RegExp])[] = [
      [20, 'ok', /^Clock \d\d\.\d s from the database's$/],
      [-40, 'warn', /^This machine's clock is 40 s behind the database's$/],
      [290, 'warn', /5 minutes ahead of/],
      [310, 'fail', /5 minutes ahead of/],
      [-90_000, 'fail', /25 hours behind/],
    ]
    for (const [seconds, state, says] of clocks) {
      test(`a clock that is ${seconds} s off: ${state}`, async () => {
        const clock = { ...systemClock, now: () => Date.now() + seconds * 1000 }
        const found = find(await run({}, { clock }), 'clock')
        assert.equal(found.state, state)
        assert.match(found.message, says)
      })
    }

    test('pending deliveries without a worker are a failure, with the line for cron', async () => {
      await addDeliveries(14)
      const found = find(await run(), 'events')
      assert.deepEqual([found.state, found.message], ['fail', 'event:execute never ran, 14 deliveries waiting'])
      assert.match(
        found.next ?? '',
        /Cron does not have the variables of this shell: put WAYPOST_SYSTEM_URL, .*OTHER_URL into \.env\. Add this line to crontab:/,
      )
      const launcher = path.join(import.meta.dirname, '../../bin/run.js')
      assert.equal(
        found.command,
        `* * * * * cd ${deployed.folder} && ${process.execPath} ${launcher} event:execute --watch --time-limit 55s`,
      )
      await replaceFact(deployed.host.system, 'last_execute', String(Date.now() - 600_000))
      assert.match(
        find(await run(), 'events').message,
        /^event:execute last ran 10 minutes ago, 14 deliveries waiting$/,
      )
      await replaceFact(deployed.host.system, 'last_execute', String(Date.now() - 20_000))
      const lately = find(await run(), 'events')
      assert.equal(lately.state, 'ok')
      assert.match(lately.message, /last ran \d+ s ago, 14 deliveries waiting/)
      await clear()
    })

    test('deliveries that wait on purpose do not count, nor does a message without subscribers', async () => {
      const { id: user } = await addUser(deployed.host.system, { name: 'subscriber', scopes: ['ping'] })
      await deployed.host.system.db
        .insertInto('waypost_subscription')
        .values({
          id: 'sub_1',
          user_id: user,
          event: 'pinged',
          endpoint: 'https://e.example',
          status: 'paused',
          revision: 1,
          secret: '',
          created_at: 1,
        })
        .execute()
      await addDeliveries(2, 'sub_1')
      await deployed.host.system.db
        .updateTable('waypost_subscription')
        .set({
          secret: makeSecrets(secret).seal('s', { table: 'waypost_subscription', row: 'sub_1', column: 'secret' }),
        })
        .execute()
      assert.deepEqual(show(await run()).at(-1), 'warn events: event:execute never ran, no deliveries waiting')
      const message = {
        id: 'msg_x',
        event: 'pinged',
        data: '{}',
        users: null,
        created_at: 1,
        fanned_out_at: null,
        fan_cursor: null,
      }
      await deployed.host.system.db
        .insertInto('waypost_message')
        .values([message, { ...message, id: 'msg_y', event: 'unknown' }])
        .execute()
      assert.deepEqual(show(await run()).at(-1), 'warn events: event:execute never ran, no deliveries waiting')
      await deployed.host.system.db.deleteFrom('waypost_delivery').execute()
      await deployed.host.system.db.updateTable('waypost_subscription').set({ status: 'active' }).execute()
      const found = find(await run(), 'events')
      assert.deepEqual([found.state, found.message], ['fail', 'event:execute never ran, 1 delivery waiting'])
      await deployed.host.system.db.deleteFrom('waypost_message').execute()
      await deployed.host.system.db.deleteFrom('waypost_user').where('id', '=', user).execute()
      await clear()
    })

    test('a server that does not serve the release is named with its cause', async () => {
      assert.match(find(await run(), 'release').message, /is active, but no server is running$/)
      await addServer('app-1', { release_id: 'older', state: 'failed', error: 'The variable OTHER_URL is not set' })
      const failed = find(await run(), 'release')
      assert.equal(failed.state, 'fail')
      assert.match(failed.message, /; app-1 does not serve it: The variable OTHER_URL is not set$/)
      await clear()
      await addServer('app-1', { state: 'starting' })
      assert.match(find(await run(), 'release').message, /; app-1 is still switching to it$/)
      await clear()
    })

    test('a variable of the release that is not set here is a warning', async () => {
      const found = find(await run({ OTHER_URL: '' }), 'variables')
      assert.deepEqual([found.state, found.message], ['warn', 'The release requires OTHER_URL, which is not set here'])
      const wrong = find(await run({ MOST: 'ten' }), 'variables')
      assert.deepEqual([wrong.state, wrong.message], ['warn', 'MOST must be an integer, not "ten"'])
    })

    test('migrations that have not run, that were edited, that are unknown here', async () => {
      const one = path.join(deployed.folder, 'migrations/System/20261120-one.ts')
      const two = path.join(deployed.folder, 'migrations/System/20261121-two.ts')
      await writeFile(two, migration('app_two'))
      const pending = find(await run(), 'migrations')
      assert.deepEqual(
        [pending.state, pending.message, pending.command],
        ['warn', 'Migrations not applied: 20261121-two', 'waypost migrate'],
      )
      await writeFile(one, migration('app_three'))
      const edited = find(await run(), 'migrations')
      assert.deepEqual(
        [edited.state, edited.message],
        ['fail', 'Migrations changed after they were applied: 20261120-one'],
      )
      await Promise.all([rm(one), rm(two)])
      assert.deepEqual(
        find(await run(), 'migrations').message,
        'Applied migrations missing from the project: 20261120-one',
      )
      await writeFile(one, files['migrations/System/20261120-one.ts'])
    })

    test('a project with an error fails, and the other checks still run', async () => {
      await writeFile(path.join(deployed.folder, 'src/ping.ts'), 'export default class {')
      const report = await run()
      const found = find(report, 'project')
      assert.deepEqual([found.state, found.command], ['fail', 'waypost validate'])
      assert.match(found.message, /has 1 error$/)
      assert.equal(find(report, 'secret').state, 'ok')
      await writeFile(path.join(deployed.folder, 'src/ping.ts'), files['src/ping.ts'])
    })

    test('a server needs no project in its folder', async () => {
      const empty = await makeFolder({})
      const url = kind === 'sqlite' ? `sqlite:${deployed.folder}/live.db` : deployed.variables['WAYPOST_SYSTEM_URL']
      const report = await doctor({ folder: empty, variables: { ...deployed.variables, WAYPOST_SYSTEM_URL: url } })
      assert.equal(find(report, 'project').state, 'skip')
      assert.equal(find(report, 'secret').state, 'ok')
      assert.deepEqual(await readdir(empty), [])
      await rm(empty, { recursive: true })
    })

    if (kind === 'postgresql') {
      test('development on SQLite beside a target on PostgreSQL is a warning', async () => {
        await mkdir(path.join(deployed.folder, '.waypost'), { recursive: true })
        await writeFile(path.join(deployed.folder, '.waypost/system.db'), '')
        assert.equal(show(await run()).at(-1), 'warn kinds: dev uses SQLite, but this target uses PostgreSQL')
        await rm(path.join(deployed.folder, '.waypost/system.db'))
      })
    }

    test('event:execute notes at most once a minute that it ran', async () => {
      const noted = async () =>
        (
          await deployed.host.system.db
            .selectFrom('waypost_system')
            .select('value')
            .where('name', '=', 'last_execute')
            .executeTakeFirst()
        )?.value
      await executeHostEvents(deployed.host)
      const first = await noted()
      assert.ok(Math.abs(Date.now() - Number(first)) < 600_000)
      await executeHostEvents(deployed.host)
      assert.equal(await noted(), first)
      await replaceFact(deployed.host.system, 'last_execute', String(Number(first) - 61_000))
      await executeHostEvents(deployed.host)
      assert.ok(Number(await noted()) >= Number(first))
      await clear()
    })
  })
}
