// The commands of the topic migrate, as a developer uses them on a to-do project.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { after, before, describe, it, test } from 'node:test'
import { Client } from 'pg'
import { startPostgres, type TestPostgres } from '../support/postgres.ts'
import { makeProject, type TestProject } from '../support/project.ts'
import { baseUrl, secret } from './serving.ts'
import { until } from '../support/until.ts'
import { longDescribe, longTest } from '../support/forms.ts'

const first = '20261120-create-app-todo'
const note = '20261121-note'
const file = `migrations/System/${note}.ts`
const migration = (table: string, down = `await db.schema.dropTable('${table}').execute()`) =>
  `export default {
  async up(db: any, type: any) { await db.schema.createTable('${table}').addColumn('id', type.id).execute() },
  async down(db: any) { ${down} },
}
`
const tables = (project: TestProject) => project.read('migrations/System/tables.ts')
const states = async (project: TestProject) =>
  JSON.parse(await project.ok('migrate:status --json'))
    .migrations.filter((one: { connection: string }) => one.connection === 'System')
    .map((one: { name: string; state: string }) => `${one.name} ${one.state}`)

interface Migrating {
  open(): Promise<TestProject>
  /** Makes System one of development, as `dev` does, or one of production. */
  setOrigin(origin: 'development' | 'production'): Promise<void>
}

function describeMigrate(kind: string, { open, setOrigin }: Migrating): void {
  describe(`migrate:* on ${kind}`, () => {
    let project: TestProject
    before(async () => {
      project = await open()
    })
    after(() => project.remove())

    it('shows what would run and changes nothing', async () => {
      const { code, stdout } = await project.run('migrate --dry-run')
      assert.deepEqual(
        [code, stdout.split('\n').filter((line) => line.includes('System/'))],
        [0, [`  Would run  System/${first}`]],
      )
      const others = stdout.split('\n').filter((line) => line.startsWith('  Would run') && !line.includes('System/'))
      assert.equal(others.length, 1, "Waypost's own migrations are one line")
      assert.match(others[0]!, /Waypost's own tables \(\d+ migrations\)$/)
      assert.deepEqual(await states(project), [`${first} pending`])
      assert.ok(!existsSync(path.join(project.folder, '.waypost/system.db')))
    })

    it('applies the migrations up to the given one', async () => {
      await project.write(file, migration('note'))
      assert.doesNotMatch(await project.ok(`migrate --to ${first}`), /note/)
      assert.deepEqual(await states(project), [`${first} applied`, `${note} pending`])
      assert.match(await project.ok(`migrate --to ${file}`), /Migrated {3}System\/20261121-note /)
      assert.match(await tables(project), /note: \{/)
      const { code, stderr } = await project.run('migrate --to 20261121-nte')
      assert.deepEqual([code, stderr.includes('Did you mean "20261121-note"?')], [1, true])
    })

    it('reverts the last one, and asks before', async () => {
      const { code, stderr } = await project.run('migrate:down')
      assert.deepEqual([code, /To confirm without a terminal, add --yes\./.test(stderr)], [1, true])
      assert.deepEqual(JSON.parse(await project.ok('migrate:down --yes --json')), {
        revert: [`System/${note}`],
        apply: [],
        written: ['migrations/System/tables.ts', 'migrations/System/tables.json'],
      })
      assert.doesNotMatch(await tables(project), /note/)
      assert.deepEqual(await states(project), [`${first} applied`, `${note} pending`])
      await project.ok('migrate')
    })

    it('one may be formatted, and its text accepted if it was changed', async () => {
      await project.write(file, `// The notes.\n${migration('note').replaceAll("'", '"')}`)
      await project.ok('migrate')
      await project.write(file, `${migration('note')}\nexport const more = 1\n`)
      const { code, stderr } = await project.run('migrate')
      assert.deepEqual([code, /migrate:accept NAME[^]*deletes the rows/.test(stderr)], [1, true])
      assert.match((await project.run('migrate:accept 20261121-nte --yes')).stderr, /Did you mean "20261121-note"\?/)
      assert.equal((await project.run(`migrate:accept ${note}`)).code, 1)
      assert.match(await project.ok(`migrate:accept ${note} --yes`), /^ {2}Accepted {4}System\/20261121-note\n/)
      assert.match(await project.ok('audit:list --action migration.accept --json'), /"System\/20261121-note"/)
      await project.ok('migrate')
      await project.write(file, migration('note'))
      await project.ok(`migrate:accept ${note} --yes`)
    })

    it('names one that was edited, and does it again', async () => {
      await setOrigin('development')
      await project.write(file, migration('remark'))
      const refused = await project.run('migrate')
      assert.equal(refused.code, 1)
      assert.match(
        refused.stderr,
        /^Error: Migrations changed after they were applied: "20261121-note"\n.*npx waypost migrate:redo/m,
      )
      assert.match(await project.ok('migrate:status'), /System\/20261121-note +changed after it was applied/)
      // No release has the text that was applied, so the `down` of today has to do.
      const failed = await project.run('migrate:redo --yes')
      assert.equal(failed.code, 1)
      assert.match(failed.stderr, /The migration "20261121-note" could not be reverted: /)
      assert.match(failed.stderr, /Nothing was changed/)
      await project.write(file, migration('remark', `await db.schema.dropTable('note').execute()`))
      assert.match(
        await project.ok('migrate:redo --yes'),
        /Reverted {4}System\/20261121-note\n {2}Applied {5}System\/20261121-note\n/,
      )
      assert.match(await tables(project), /remark: \{/)
      assert.deepEqual(await states(project), [`${first} applied`, `${note} applied`])
    })

    it('reverts all after the given one, newest first', async () => {
      await project.write('migrations/System/20261122-more.ts', migration('more'))
      await project.write(file, migration('remark'))
      await project.ok('migrate:redo --yes')
      await project.ok('migrate')
      const down = await project.ok(`migrate:down --to ${first} --yes`)
      assert.match(down, /^ {2}Reverted {4}System\/20261122-more\n {2}Reverted {4}System\/20261121-note\n/)
      assert.deepEqual(await states(project), [`${first} applied`, `${note} pending`, '20261122-more pending'])
      assert.match(
        (await project.run('migrate:down --to 20261121-note --yes')).stderr,
        /"20261121-note" has not been applied/,
      )
    })

    it('does nothing on a System that is not a development System', async () => {
      await project.ok('migrate')
      await setOrigin('production')
      await project.ok('deploy --yes --json')
      const { code, stderr } = await project.run('migrate:redo --yes')
      assert.equal(code, 1)
      assert.match(stderr, /is not a development System: reapplying a migration would delete its data/)
      assert.deepEqual(await states(project), [`${first} applied`, `${note} applied`, '20261122-more applied'])
    })
  })
}

// The embedded System is nobody's before it was deployed to.
describeMigrate('SQLite', { open: () => makeProject(), setOrigin: async () => undefined })

// In CI, store/migrations.test.ts and operate/releases/migrate-release.test.ts migrate on PostgreSQL.
longDescribe('with a PostgreSQL', () => {
  let postgres: TestPostgres
  before(async () => {
    postgres = await startPostgres()
  })
  after(() => postgres.stop())
  let url: string
  describeMigrate('PostgreSQL', {
    async open() {
      url = await postgres.createDatabase()
      return makeProject({ WAYPOST_SYSTEM_URL: url, WAYPOST_BASE_URL: baseUrl, WAYPOST_SECRET: secret })
    },
    async setOrigin(origin) {
      const client = new Client({ connectionString: url })
      await client.connect()
      await client.query(`delete from waypost_system where name = 'origin'`)
      await client.query(`insert into waypost_system (name, value) values ('origin', $1)`, [origin])
      await client.end()
    },
  })
})

test('a signal cancels the statement of a migration in PostgreSQL, which is rolled back', async () => {
  const postgres = await startPostgres()
  const url = await postgres.createDatabase()
  const project = await makeProject({ WAYPOST_SYSTEM_URL: url, WAYPOST_BASE_URL: baseUrl, WAYPOST_SECRET: secret })
  const client = new Client({ connectionString: url })
  await client.connect()
  const countSleeping = async () => {
    const { rows } = await client.query<{ n: number }>(`select count(*)::int as n from pg_stat_activity
      where datname = current_database() and state = 'active' and query like 'select pg_sleep%'`)
    return rows[0]!.n
  }
  try {
    const up = 'await sql`create table half_done (id integer)`.execute(db); await sql`select pg_sleep(600)`.execute(db)'
    const text = `import { sql } from 'waypost'\nexport default { async up(db: any) { ${up} } }\n`
    await project.write('migrations/System/20990101-slow.ts', text)
    const running = project.start('migrate')
    await until('it sleeps', async () => (await countSleeping()) === 1)
    const { code, stderr } = await running.stop('SIGTERM')
    assert.equal(code, 143)
    assert.match(stderr, /Stopped at the migration "migrations\/System\/20990101-slow\.ts": it was rolled back/)
    assert.equal(await countSleeping(), 0)
    const { rows } = await client.query(`select 1 from pg_tables where tablename = 'half_done'`)
    assert.deepEqual(rows, [])
  } finally {
    await client.end()
    await project.remove()
    await postgres.stop()
  }
})

test('a plan creates no database, neither System nor that of a connection, and shows the state', async () => {
  const project = await makeProject()
  try {
    const connection = `connection:\n  Orders: { class: sqlite, config: { file: data/orders.db } }\n`
    await project.write('waypost.yml', `${await project.read('waypost.yml')}${connection}`)
    await project.write('migrations/Orders/20261121-order.ts', migration('order_line'))
    for (const [words, expected] of [
      ['migrate --dry-run', ['Orders/20261121-order', `System/${first}`]],
      ['migrate --dry-run --connection Orders', ['Orders/20261121-order']],
      ['migrate --dry-run --connection Orders --to 20261121-order', ['Orders/20261121-order']],
      ['migrate:status', ['Orders/20261121-order', `System/${first}`]],
    ] as const) {
      const listed = (await project.ok(words)).match(/(System|Orders)\/\S+/g) ?? []
      assert.deepEqual(listed.toSorted(), expected, words)
    }
    for (const words of [
      '--connection System --to 20261120-create-app-tod',
      '--connection Orders --to 20261121-ordr',
    ]) {
      const { code, stderr } = await project.run(`migrate --dry-run ${words}`)
      assert.deepEqual([code, /Unknown migration "\S+"\n.*Did you mean "\S+"\?/.test(stderr)], [1, true], stderr)
    }
    assert.ok(!existsSync(path.join(project.folder, 'data')))
    assert.ok(!existsSync(path.join(project.folder, '.waypost/system.db')))
    await project.ok('migrate')
    assert.doesNotMatch(await project.ok('migrate --dry-run'), /Orders/)
    await rm(path.join(project.folder, 'data'), { recursive: true })
    assert.match((await project.run('deploy --yes')).stderr, /Orders\/20261121-order/)
    assert.ok(!existsSync(path.join(project.folder, 'data')))
  } finally {
    await project.remove()
  }
})

test('migrate:create writes files that run in the order in which they were made, and fail until they are written', async () => {
  const project = await makeProject()
  try {
    for (const name of ['Add due date', 'add_zone', 'create-order']) await project.ok(['migrate:create', name])
    const made = (await readdir(path.join(project.folder, 'migrations/System')))
      .filter((one) => one.startsWith('2'))
      .toSorted()
    assert.deepEqual(
      made.map((one) => one.replace(/^\d+-/, '')),
      ['create-app-todo.ts', 'add-due-date.ts', 'add-zone.ts', 'create-order.ts'],
    )
    await project.ok('validate --types')
    const { code, stderr } = await project.run('migrate')
    assert.deepEqual([code, /add-due-date is not written yet/.test(stderr)], [1, true])
    for (const [words, message] of [
      ['migrate:create ../up', /"\.\.\/up" is not a valid name for a migration/],
      ['migrate:create x --connection Sytem', /Connection "Sytem" has no migrations.*\n.*Did you mean "System"\?/],
      ['migrate:create x --connection ../..', /has no migrations in this project/],
    ] as const) {
      const refused = await project.run(words)
      assert.equal(refused.code, 1)
      assert.match(refused.stderr, message)
    }
    assert.equal((await project.run('migrate:create')).code, 2)
  } finally {
    await project.remove()
  }
})

// In CI, test/project/session-migrations.test.ts edits migrations.
longTest(
  'dev reports an edited migration, and continues after it was reapplied with the down that was applied',
  async () => {
    const project = await makeProject()
    await project.write(file, migration('note'))
    const dev = project.start('dev --port 0')
    try {
      await dev.waitFor(/Ready in/)
      await project.write(file, migration('remark'))
      await dev.waitFor(
        /reload \S.*: error, still serving the last valid version\n +Migrations changed after they were applied/,
      )
      // Its `down` drops a table that was never made; that of the text that was applied drops the one that was.
      await project.ok('migrate:redo --yes')
      await dev.waitFor(/reload the project {3}\d+(\.\d)? ms, fixed\n/)
      assert.match(await tables(project), /remark: \{/)
      assert.doesNotMatch(await tables(project), /note: \{/)

      await rm(path.join(project.folder, file))
      await dev.waitFor(/Migrations applied to the database, but missing from the project: "20261121-note"/)
      assert.match(await project.ok('migrate:redo --yes'), /^ {2}Reverted {4}System\/20261121-note\n/)
      await dev.waitFor(/fixed[^]*fixed\n/)
      assert.doesNotMatch(await tables(project), /remark/)
    } finally {
      await dev.stop()
      await project.remove()
    }
  },
)

// In CI, the test above creates stubs.
longTest('dev skips stubs with one notice, and applies them once they are written', async () => {
  const project = await makeProject()
  const dev = project.start('dev --port 0')
  try {
    await dev.waitFor(/Ready in/)
    const made = /migrations\/\S+/.exec(await project.ok('migrate:create add-due'))![0]
    await dev.waitFor(new RegExp(`warning {2}${made} has no content yet and is skipped\\n`))
    await dev.waitFor(/reload migrations\/System\/\d+-add-due\.ts {3}\d/)
    const route = await project.read('src/todo/collection.ts')
    await project.write('src/todo/collection.ts', `${route}\n// saved\n`)
    await dev.waitFor(/reload src\/todo\/collection\.ts {3}\d/)
    await project.write(made, migration('due').replace('await db', `throw new Error('oops')\n  await db`))
    await dev.waitFor(/"migrations\/System\/\d+-add-due\.ts" failed and was rolled back: oops\n +Fix it and save it/)
    await project.write(made, migration('due'))
    await dev.waitFor(
      /reload \S+-add-due\.ts {3}.*\d+-add-due applied, migrations\/System\/tables\.ts written, migrations\/System\/tables\.json written, fixed\n/,
    )
    assert.match(await tables(project), /due: \{/)
  } finally {
    const { stdout } = await dev.stop()
    assert.equal(stdout.split('has no content yet').length, 2, stdout)
    await project.remove()
  }
})
