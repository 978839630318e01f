import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { sql } from 'kysely'
import { Client } from 'pg'
import { sha256 } from '../../src/kit/index.ts'
import { migrateSystem, openSystem } from '../../src/store/index.ts'
import { openOrm } from '../../src/store/orm.ts'
import { growingIndexes } from '../../src/store/migrations/0023-growing-lists.ts'
import { chooseKinds } from '../support/forms.ts'
import { until } from '../support/until.ts'
import { startPostgres } from '../support/postgres.ts'

for (const kind of ['sqlite', 'postgresql'] as const) {
  test(`migrations keep the deliveries and attempts that a System of an older Waypost has, on ${kind}`, async (t) => {
    const system = await openSystem({ url: await makePlace(kind, (close) => t.after(close)), create: true })
    try {
      const orm = await openOrm(system, 'waypost_schema')
      await orm.migrator.up({ to: '0003-events' })
      await orm.close()
      await sql`insert into waypost_delivery
        (id, message_id, subscription_id, status, due_at, scheduled_at, failures, lost, created_at)
        values ('dlv_1', 'msg_1', 'sub_1', 'pending', 1, 1, 2, 0, 1), ('dlv_2', 'msg_1', 'sub_2', 'dead', 1, 1, 4, 1, 1)`.execute(
        system.db,
      )
      await sql`insert into waypost_attempt
        (id, delivery_id, started_at, latency_ms, status, outcome, answer, hidden)
        values ('att_1', 'dlv_1', 5, 6, 503, 'status 503', 'busy', 0), ('att_2', 'dlv_1', 7, 8, null, 'ECONNRESET', null, 1)`.execute(
        system.db,
      )
      await sql`insert into waypost_subscription (id, user_id, event, endpoint, status, revision, secret, created_at)
        values ('sub_1', 'ann', 'note', 'https://example.com/', 'active', 1, 'sealed', 1)`.execute(system.db)
      await sql`insert into waypost_attempt_total (outcome, bucket, count, sum_ms) values ('dead', 3, 7, 80)`.execute(
        system.db,
      )
      const before = await loadAll()
      await migrateSystem(system)
      const noSuccess = {
        started_at: null,
        latency_ms: null,
        response_status: null,
        answer: null,
        headers: null,
        hidden: null,
      }
      const now = before.map((row) => {
        if ('outcome' in row) return { ...row, headers: null }
        const {
          claim_id: _,
          lease_until: __,
          ...kept
        } = row as typeof row & Record<'claim_id' | 'lease_until', unknown>
        return { ...kept, ...noSuccess, lane: 0, turn: 0 }
      })
      assert.deepEqual(await loadAll(), now)
      const totals = await system.db.selectFrom('waypost_attempt_total').selectAll().execute()
      assert.deepEqual(
        totals.map((row) => ({ ...row })),
        [{ outcome: 'dead', bucket: 3, shard: 0, count: 7, sum_ms: 80 }],
      )
      const subscriptions = await system.db.selectFrom('waypost_subscription').selectAll().execute()
      assert.partialDeepStrictEqual(subscriptions, [{ id: 'sub_1', user_id: 'ann', client_id: null, scope: null }])
      assert.equal(before.length, 4)
    } finally {
      await system.close()
    }

    async function loadAll() {
      const deliveries = await system.db.selectFrom('waypost_delivery').selectAll().orderBy('id').execute()
      const attempts = await system.db.selectFrom('waypost_attempt').selectAll().orderBy('id').execute()
      return [...deliveries, ...attempts].map((row) => ({ ...row }))
    }
  })
}

// In CI, those below on PostgreSQL: the first runs all migrations on SQLite too.
for (const kind of chooseKinds('postgresql')) {
  test(`migrations put subscriptions and deliveries of an older System into lanes, on ${kind}`, async (t) => {
    const system = await openSystem({ url: await makePlace(kind, (close) => t.after(close)), create: true })
    try {
      const orm = await openOrm(system, 'waypost_schema')
      await orm.migrator.up({ to: '0021-success-in-delivery' })
      await orm.close()
      const ids = Array.from({ length: 66 }, (_, index) => `sub_${String(index).padStart(2, '0')}`)
      const subscriptions = ids.map(
        (id) => sql`(${id}, ${id}, 'note', 'https://example.com/', 'active', 1, 'sealed', 1)`,
      )
      await sql`insert into waypost_subscription (id, user_id, event, endpoint, status, revision, secret, created_at)
        values ${sql.join(subscriptions)}`.execute(system.db)
      await sql`insert into waypost_delivery
        (id, message_id, subscription_id, status, due_at, scheduled_at, failures, lost, claim_id, lease_until, created_at)
        values ('dlv_due', 'msg_1', 'sub_03', 'pending', 5, 5, 0, 0, null, null, 1),
          ('dlv_claimed', 'msg_2', 'sub_65', 'pending', 5, 5, 0, 1, 'clm_1', 9, 1),
          ('dlv_failed', 'msg_3', 'sub_03', 'pending', 5, 5, 1, 0, null, null, 1),
          ('dlv_later', 'msg_4', 'sub_gone', 'pending', 99999999999999, 5, 0, 0, null, null, 1)`.execute(system.db)
      await migrateSystem(system)
      const { db } = system
      const lanes = await db.selectFrom('waypost_subscription').select('lane').orderBy('id').execute()
      assert.deepEqual(
        lanes.map(({ lane }) => lane),
        ids.map((_, index) => index % 64),
      )
      const columns = ['id', 'lane', 'due_at', 'lost', 'turn'] as const
      const rows = await db.selectFrom('waypost_delivery').select(columns).orderBy('id').execute()
      assert.deepEqual(
        rows.map((row) => Object.values(row)),
        [
          ['dlv_claimed', 1, 0, 2, 0],
          ['dlv_due', 3, 0, 0, 0],
          ['dlv_failed', 3, 5, 0, 0],
          ['dlv_later', 0, 99_999_999_999_999, 0, 0],
        ],
      )
      const free = await db.selectFrom('waypost_lane').selectAll().where('worker_id', 'is', null).execute()
      assert.equal(free.length, 64)
      // A worker of the version before fails instead of posting.
      await assert.rejects(sql`update waypost_delivery set claim_id = 'clm_2' where id = 'dlv_due'`.execute(db))
    } finally {
      await system.close()
    }
  })
}

for (const kind of chooseKinds('postgresql')) {
  test(`migrations give a release of an older System the hash of its manifest as its id, on ${kind}`, async (t) => {
    const system = await openSystem({ url: await makePlace(kind, (close) => t.after(close)), create: true })
    try {
      const orm = await openOrm(system, 'waypost_schema')
      await orm.migrator.up({ to: '0006-failing-since' })
      await orm.close()
      const manifest = '{"format":1,"routes":[]}'
      const hash = sha256(manifest)
      const id = sha256(`${hash} ${sha256('{}')}`)
      await sql`insert into waypost_release_part (hash, kind, manifest, created_at)
        values (${hash}, 'project', ${manifest}, 1)`.execute(system.db)
      await sql`insert into waypost_release (id, project_hash, backend_hash, created_by, created_at, came_up_at)
        values (${id}, ${hash}, ${sha256('{}')}, 'ann', 2, 3)`.execute(system.db)
      await sql`insert into waypost_activation (number, release_id, previous_id, kind, activated_at, activated_by)
        values (1, ${id}, null, 'deploy', 4, 'ann'), (2, 'gone', ${id}, 'deploy', 5, 'ann')`.execute(system.db)
      await sql`update waypost_active set release_id = ${id}`.execute(system.db)
      await migrateSystem(system)
      const releases = await system.db.selectFrom('waypost_release').selectAll().execute()
      const row = { id: hash, manifest, message: null, created_by: 'ann', created_at: 2, came_up_at: 3 }
      assert.deepEqual({ ...releases[0] }, row)
      assert.equal(releases.length, 1)
      const activations = await system.db.selectFrom('waypost_activation').selectAll().orderBy('number').execute()
      assert.deepEqual(
        activations.map(({ release_id: release, previous_id: previous }) => [release, previous]),
        [
          [hash, null],
          ['gone', hash],
        ],
      )
      assert.equal((await system.db.selectFrom('waypost_active').selectAll().executeTakeFirst())?.release_id, hash)
    } finally {
      await system.close()
    }
  })
}

for (const kind of chooseKinds('postgresql')) {
  test(`migrations grant backend.operate to the administrators of an older System, on ${kind}`, async (t) => {
    const system = await openSystem({ url: await makePlace(kind, (close) => t.after(close)), create: true })
    try {
      const orm = await openOrm(system, 'waypost_schema')
      await orm.migrator.up({ to: '0010-audit' })
      await orm.close()
      const held = [
        ['ann', 'backend.admin'],
        ['bob', 'backend.deploy'],
        ['cem', 'backend.admin'],
        ['cem', 'backend.operate'],
      ] as const
      const rows = held.map(([user_id, scope]) => ({ user_id, scope }))
      await system.db.insertInto('waypost_user_scope').values(rows).execute()
      await migrateSystem(system)
      const scopes = system.db.selectFrom('waypost_user_scope').selectAll().orderBy('user_id').orderBy('scope')
      assert.deepEqual(
        (await scopes.execute()).map(({ user_id: user, scope }) => `${user} ${scope}`),
        ['ann backend.admin', 'ann backend.operate', 'bob backend.deploy', 'cem backend.admin', 'cem backend.operate'],
      )
    } finally {
      await system.close()
    }
  })
}

for (const kind of chooseKinds('postgresql')) {
  test(`migrations give running sessions and their tokens a sign-in, on ${kind}`, async (t) => {
    const system = await openSystem({ url: await makePlace(kind, (close) => t.after(close)), create: true })
    try {
      const orm = await openOrm(system, 'waypost_schema')
      await orm.migrator.up({ to: '0023-growing-lists' })
      await orm.close()
      const { db } = system
      await sql`insert into waypost_session (hash, user_id, password_check, created_at, password_at, expires_at)
        values ('s1', 'ann', '', 1, 1, 9)`.execute(db)
      await sql`insert into waypost_token_family
          (id, user_id, client_id, scope, created_at, expires_at, revoked_at, password_at)
        values ('its', 'ann', 'c', '', 1, 9, null, 1), ('of another time', 'ann', 'c', '', 1, 9, null, 2),
          ('revoked', 'ann', 'c', '', 1, 9, 2, 1), ('without', 'ann', 'c', '', 1, 9, null, null),
          ('of another', 'bob', 'c', '', 1, 9, null, 1)`.execute(db)
      await migrateSystem(system)
      const { rows } = await sql<{ id: string; sign_in: string }>`
        select id, sign_in from waypost_token_family where sign_in is not null
        union all select 'session', sign_in from waypost_session order by id`.execute(db)
      assert.deepEqual(
        rows.map((row) => ({ ...row })),
        [
          { id: 'its', sign_in: 's1' },
          { id: 'session', sign_in: 's1' },
        ],
      )
    } finally {
      await system.close()
    }
  })
}

test('indexes of a large System are built while servers write, beyond the time limit of statements, also after a build was interrupted', async (t) => {
  const url = await makePlace('postgresql', (close) => t.after(close))
  const system = await openSystem({ url, create: true })
  const writer = new Client({ connectionString: url })
  await writer.connect()
  try {
    const orm = await openOrm(system, 'waypost_schema')
    await orm.migrator.up({ to: '0021-success-in-delivery' })
    await orm.close()
    const { db } = system
    // What an interrupted build leaves.
    await sql`create index waypost_message_event_index on waypost_message (event, id)`.execute(db)
    await sql`update pg_index set indisvalid = false
      where indexrelid = cast('waypost_message_event_index' as regclass)`.execute(db)
    const insert = (id: string) =>
      sql`insert into waypost_message (id, event, data, created_at) values (${id}, 'note', '{}', 1)`.execute(db)
    await writer.query('begin')
    await writer.query('delete from waypost_message') // a transaction that the build waits for
    await sql`do $$ begin execute format('alter database %I set statement_timeout = ''2s''', current_database()); end $$`.execute(
      db,
    )
    if (system.database.kind === 'postgresql') system.database.staleness.replaceAll()
    const migrating = migrateSystem(system)
    await until('the build waits for the writer', async () => {
      const { rowCount } = await writer.query('select 1 from pg_locks where not granted')
      return rowCount! > 0
    })
    await writer.query('select pg_sleep(2.1)')
    await insert('msg_1') // would wait for a build in a transaction, which waits for the writer
    await writer.query('commit')
    assert.deepEqual(await migrating, [
      '0022-lanes',
      '0023-growing-lists',
      '0024-sign-ins',
      '0025-delayed',
      '0026-listeners',
      '0027-run-logs',
    ])
    const names = growingIndexes.map((index) => index.split('"')[1]!)
    const { rows } = await sql<{ valid: boolean }>`
      select i.indisvalid as valid from pg_index i join pg_class c on c.oid = i.indexrelid
      where c.relname in (${sql.join(names)})`.execute(db)
    assert.deepEqual(
      rows.map(({ valid }) => valid),
      names.map(() => true),
    )
  } finally {
    await writer.end()
    await system.close()
  }
})

test('indexes for searches that would wait for a long transaction are built by the next migrate, and leave nothing', async (t) => {
  const system = await openSystem({ url: await makePlace('postgresql', (close) => t.after(close)), create: true })
  const { db } = system
  const listIndexes = async () => {
    const { rows } = await sql`select 1 from pg_class where relname like 'waypost%search'`.execute(db)
    return rows.length
  }
  const warnings: string[] = []
  const migrate = (signal?: AbortSignal) =>
    migrateSystem(system, { signal, onWarning: (message) => warnings.push(message) })
  try {
    await migrate()
    await sql`create extension pg_trgm`.execute(db)
    await sql`do $$ begin execute format('alter database %I set lock_timeout = ''100ms''', current_database()); end $$`.execute(
      db,
    )
    if (system.database.kind === 'postgresql') system.database.staleness.replaceAll()
    await db.connection().execute(async (snapshot) => {
      await sql`begin isolation level repeatable read`.execute(snapshot)
      await sql`select 1 from waypost_schema`.execute(snapshot)
      assert.deepEqual(await migrate(), [])
      assert.match(warnings.join(), /^The indexes for searches .* were not built, so run migrate again: .*lock timeout/)
      assert.equal(await listIndexes(), 0)
      await assert.rejects(migrate(AbortSignal.abort(new Error('stopped'))), { message: 'stopped' })
      await sql`rollback`.execute(snapshot)
    })
    await sql`do $$ begin execute format('alter database %I reset lock_timeout', current_database()); end $$`.execute(
      db,
    )
    if (system.database.kind === 'postgresql') system.database.staleness.replaceAll()
    await migrate()
    assert.deepEqual([warnings.length, await listIndexes()], [1, 3])
  } finally {
    await system.close()
  }
})

test('searches of users and clients have indexes if pg_trgm is there, also if it is added later, in any schema', async (t) => {
  const system = await openSystem({ url: await makePlace('postgresql', (close) => t.after(close)), create: true })
  const { db } = system
  const listIndexes = async () => {
    const { rows } = await sql<{ name: string }>`
      select indexname as name from pg_indexes where indexname like 'waypost%search' order by 1`.execute(db)
    return rows.map(({ name }) => name)
  }
  try {
    await migrateSystem(system)
    assert.deepEqual(await listIndexes(), [])
    await sql`create schema "The extensions"`.execute(db)
    await sql`create extension pg_trgm schema "The extensions"`.execute(db)
    assert.deepEqual(await migrateSystem(system), [])
    const all = ['waypost_client_name_search', 'waypost_user_email_search', 'waypost_user_name_search']
    assert.deepEqual(await listIndexes(), all)
    assert.deepEqual([await migrateSystem(system), await listIndexes()], [[], all])
    const { rows } = await db.connection().execute(async (connection) => {
      await sql`set enable_seqscan = off`.execute(connection)
      return sql`explain select * from waypost_user where name ilike '%smith%' or email ilike '%smith%'`.execute(
        connection,
      )
    })
    for (const name of all.slice(1)) assert.ok(JSON.stringify(rows).includes(name), JSON.stringify(rows))
  } finally {
    await system.close()
  }
})

async function makePlace(kind: 'sqlite' | 'postgresql', atEnd: (close: () => Promise<void>) => void): Promise<string> {
  if (kind === 'postgresql') {
    const postgres = await startPostgres()
    atEnd(() => postgres.stop())
    return postgres.createDatabase()
  }
  const folder = await mkdtemp(path.join(tmpdir(), 'waypost-upgrade-'))
  atEnd(() => rm(folder, { recursive: true }))
  return `sqlite:${path.join(folder, 'system.db')}`
}
