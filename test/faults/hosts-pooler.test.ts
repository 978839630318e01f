// Everything that a host runs, through PgBouncer in transaction mode: a session is nobody's for longer than a transaction.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import { Client } from 'pg'
import { makeLock, openSystem } from '../../src/store/index.ts'
import { openReceiver } from '../events/receiver.ts'
import type { Serving } from '../e2e/serving.ts'
import { abortTimeoutMs, until } from '../support/until.ts'
import { lacksPgBouncer, startPgBouncer, type PgBouncer } from '../support/pgbouncer.ts'
import { startPostgres, type TestPostgres } from '../support/postgres.ts'
import { send } from '../support/send.ts'
import { openHosts, type Hosts } from './hosts.ts'

const migration = (table: string) => `export default {
  up: (db) => db.schema.createTable('${table}').addColumn('id', 'integer').execute(),
}
`

describe('through PgBouncer in transaction mode', { concurrency: 1, skip: lacksPgBouncer }, () => {
  let postgres: TestPostgres
  let bouncer: PgBouncer
  let direct: string
  let url: string
  let hosts: Hosts
  let servers: readonly Serving[] = []
  before(async () => {
    postgres = await startPostgres()
    bouncer = await startPgBouncer(postgres.url('postgres'))
    direct = await postgres.createDatabase()
    url = bouncer.through(direct)
    hosts = await openHosts({ url: direct, env: { WAYPOST_SYSTEM_URL: url }, isEmpty: true })
  })
  after(async () => {
    await hosts[Symbol.asyncDispose]()
    await bouncer.stop()
    await postgres.stop()
  })

  test('migrate creates all tables once even if two run at once', async () => {
    await hosts.name('zero')
    await hosts.project.write('migrations/System/20261120-first.ts', migration('app_first'))
    const ended = await Promise.all([hosts.project.run('migrate'), hosts.project.run('migrate')])
    for (const { code, stdout, stderr } of ended) assert.equal(code, 0, stdout + stderr)
    const applied = ended.map(({ stdout, stderr }) => (stdout + stderr).split('20261120-first').length - 1)
    assert.deepEqual(
      applied.toSorted((a, b) => a - b),
      [0, 1],
    )
  })

  test('a release is deployed with its migrations, and servers load it', async () => {
    await hosts.deploy('zero')
    servers = await Promise.all([hosts.serve(), hosts.serve({ WAYPOST_SYSTEM_DIRECT_URL: direct })])
    await hosts.project.write('migrations/System/20261121-second.ts', migration('app_second'))
    const { servers: told } = await hosts.deploy('one', '--migrate')
    assert.deepEqual(
      told.map(({ state }) => state),
      ['serving', 'serving'],
    )
    for (const { port } of servers) assert.equal((await send(port, { path: '/version' })).body.release, 'one')
    await sql`select id from app_second`.execute(hosts.system.db)
  })

  test('more concurrent requests than connections are answered, and an event is delivered', async () => {
    const people = await hosts.addPeople()
    const receiver = await openReceiver()
    try {
      const [{ port }] = servers as [Serving]
      const headers = await people.issue(port)
      const subscription = { event: 'noted', endpoint: receiver.url }
      const made = await send(port, { path: '/consumer/subscription', headers, body: subscription })
      assert.equal(made.status, 201, made.text)
      const asked = servers.flatMap((server) =>
        Array.from({ length: 60 }, async (_, index) => {
          if (index === 0) return send(server.port, { path: '/note', body: {} })
          return send(server.port, { path: index % 2 === 0 ? '/stored' : '/own', headers })
        }),
      )
      for (const { status, text } of await Promise.all(asked)) assert.equal(status, 200, text)
      const told = JSON.parse(await hosts.host.ok('event:execute --json')) as { delivered: number }
      assert.equal(told.delivered, servers.length)
      assert.equal(receiver.received.length, servers.length)
    } finally {
      await receiver.close()
    }
  })

  test('times are in UTC, regardless of the settings of others who share the connections', async () => {
    const system = await openSystem({ url })
    const other = new Client({ connectionString: url })
    await other.connect()
    try {
      for (let round = 0; round < 20; round++) {
        await other.query(`set time zone 'Asia/Tokyo'; set datestyle to 'SQL, DMY'`)
        const query = sql<{ at: unknown }>`select timestamptz '2026-11-21 12:00:00+00' as at,
          cast(timestamptz '2026-11-21 12:00:00+00' as text) as text`
        const all = await Promise.all(Array.from({ length: 8 }, () => query.execute(system.db)))
        for (const { rows } of all) {
          assert.deepEqual(rows, [{ at: '2026-11-21T12:00:00.000Z', text: '2026-11-21 12:00:00+00' }])
        }
      }
    } finally {
      await other.end()
      await system.close()
    }
  })

  test('the lock of migrations ends with the process that holds it', async () => {
    const system = await openSystem({ url })
    try {
      const program = path.join(import.meta.dirname, '../store/lock-holder.ts')
      const file = path.join(hosts.host.folder, 'held')
      const holder = spawn(process.execPath, [program, url, file], { stdio: ['ignore', 'pipe', 'inherit'] })
      const ended = once(holder, 'exit')
      await once(holder.stdout, 'data')
      holder.kill('SIGKILL')
      await makeLock(system.database)('test', async () => {}, { limitMs: abortTimeoutMs })
      await ended
    } finally {
      await system.close()
    }
  })

  test('no session state remains on connections that other clients get', async () => {
    const held = () =>
      sql`select 1 from pg_locks join pg_stat_activity using (pid)
        where datname = current_database() and (locktype = 'advisory' or state like 'idle in transaction%')`.execute(
        hosts.system.guardDb,
      )
    await until('every transaction has ended', async () => (await held()).rows.length === 0)
    // Workers change these for a transaction, or for a statement.
    const names = ['synchronous_commit', 'enable_seqscan', 'enable_bitmapscan', 'jit']
    const system = await openSystem({ url })
    try {
      const changed = sql<{ what: string }>`select name as what from pg_settings
        where name in (${sql.join(names)}) and source = 'session'
        union all select statement from pg_prepared_statements`
      const all = await Promise.all(Array.from({ length: 8 }, () => changed.execute(system.db)))
      assert.deepEqual(
        all.flatMap(({ rows }) => rows),
        [],
      )
    } finally {
      await system.close()
    }
    assert.doesNotMatch(bouncer.log(), /ERROR|WARNING|unclean|not allowed/)
  })
})
