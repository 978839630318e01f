import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import { openHost, type Host } from '../../src/host/index.ts'
import { WaypostError } from '../../src/kit/index.ts'
import { migrateProject, resetDatabases, seedProject, type SeedOptions } from '../../src/project/index.ts'
import { activateRelease } from '../../src/release/index.ts'
import { createTestApp } from '../../src/testing/index.ts'
import { chooseKinds } from '../support/forms.ts'
import { startPostgres, type TestPostgres } from '../support/postgres.ts'
import { writeFiles } from '../support/project-server.ts'
import { useTemporaryFolder } from '../testing/temporary-folder.ts'

const adds = (rows: string, more = '') => `import { now } from './data/now.ts'
export default async (context) => {
  for (const title of ${rows}) {
    await context.connection('System').insertInto('app_todo').values({ title, at: now(context) }).execute()
    await context.dispatch('added', { title })
  }
  context.log.info({ env: context.env.STEP }, 'added')
  ${more}
}
`
const files = {
  'package.json': '{ "type": "module" }',
  'waypost.yml': `
env: { STEP: { type: integer, default: 7 } }
routes: { /todo: { methods: { GET: { public: true, action: src/list.ts } } } }
event: { added: { description: Added, scopes: [todo], schema: { type: object, required: [title], properties: { title: { type: string } } } } }
`,
  'src/list.ts': `export default class List {
  async handle(_, context) {
    return (await context.connection('System').selectFrom('app_todo').select('title').orderBy('id').execute()).map(({ title }) => title)
  }
}
`,
  'migrations/System/20270101-todo.ts': `import { sql } from 'waypost'
export default {
  async up(db, type) {
    await db.schema.createTable('app_todo').addColumn('id', type.id, (one) => one.primaryKey())
      .addColumn('title', 'text', (one) => one.notNull().unique()).addColumn('at', type.timestamp).execute()
    await db.schema.createTable('app_part').addColumn('todo_id', 'integer', (one) => one.references('app_todo.id').notNull()).execute()
    await sql\`create view app_open as select id, title from app_todo\`.execute(db)
    await sql\`create view app_first as select min(id) as id from app_open\`.execute(db)
    if (process.env.WAYPOST_TEST_KIND === 'postgresql') {
      await sql\`create type app_state as enum ('a', 'b')\`.execute(db)
      await sql\`create function app_next(state app_state) returns app_state language sql return state\`.execute(db)
      await sql\`create sequence app_number\`.execute(db)
    }
  },
}
`,
  'seeds/data/now.ts': 'export const now = (context: { now(): Date }): string => context.now().toISOString()\n',
  'seeds/01-first.ts': adds("['one', 'two']"),
  'seeds/02-second.ts': adds("['three']"),
  'seeds/.draft.ts': 'throw new Error()',
}

let temporary: Awaited<ReturnType<typeof useTemporaryFolder>>
let postgres: TestPostgres
before(async () => {
  temporary = await useTemporaryFolder()
  postgres = await startPostgres()
})
after(() => Promise.all([postgres.stop(), temporary.remove()]))

// In CI, e2e/snippets.test.ts migrates, seeds and resets one on SQLite.
for (const kind of chooseKinds('postgresql')) {
  describe(`seeds on ${kind}`, () => {
    let folder: string
    let variables: Record<string, string>
    let logs: string[]
    let host: Host
    before(async () => {
      folder = path.join(temporary.folder, kind)
      await writeFiles(folder, files)
      variables = kind === 'sqlite' ? {} : { WAYPOST_SYSTEM_URL: await postgres.createSystem() }
      process.env['WAYPOST_TEST_KIND'] = kind
      await migrateProject({ folder, variables })
      host = await openHost({ folder, variables })
    })
    after(async () => {
      delete process.env['WAYPOST_TEST_KIND']
      await host.close()
    })

    const seed = async (options: Partial<SeedOptions> = {}) => {
      logs = []
      const report = await seedProject({
        folder,
        variables,
        isAgain: false,
        sendsEvents: false,
        console: { logged: ({ message, fields }) => logs.push(`${message} ${JSON.stringify(fields)}`) },
        confirmDeployed: () => assert.fail('it asked'),
        ...options,
      })
      return report && { ran: report.ran.map(({ name }) => name), skipped: report.skipped }
    }
    const titles = async () => {
      const { rows } = await sql<{ title: string }>`select title from app_todo order by id`.execute(host.system.db)
      return rows.map(({ title }) => title)
    }
    const messages = async () => (await host.system.db.selectFrom('waypost_message').select('event').execute()).length
    const reset = (options: { readonly connection?: string; readonly isSeeded?: boolean } = {}) =>
      resetDatabases({
        folder,
        variables,
        isSeeded: true,
        console: { logged: () => undefined },
        confirm: async () => true,
        ...options,
      })
    const failure = async (work: Promise<unknown>) => {
      const error = await work.then(
        () => assert.fail('it succeeded'),
        (thrown: unknown) => thrown,
      )
      assert.ok(error instanceof WaypostError, String(error))
      return error
    }

    test('each runs once, in the order of names, and its log is shown; without --events, none is sent', async () => {
      assert.deepEqual(await seed(), { ran: ['01-first', '02-second'], skipped: [] })
      assert.deepEqual(await titles(), ['one', 'two', 'three'])
      assert.deepEqual(logs, ['added {"env":7}', 'added {"env":7}'])
      assert.equal(await messages(), 0)
      assert.deepEqual(await seed(), { ran: [], skipped: ['01-first', '02-second'] })
    })

    test('one that fails is rolled back, names its line, and runs again after it was corrected', async () => {
      const bad = adds(
        "['four']",
        "await context.connection('System').insertInto('app_todo').values({ nix: 1 }).execute()",
      )
      await writeFiles(folder, { 'seeds/03-third.ts': bad, 'seeds/04-fourth.ts': adds("['five']") })
      const { code, message, hint } = await failure(seed())
      assert.equal(code, 'WP_PROJECT_SEED_FAILED')
      assert.match(message, /The seed "03-third" failed and was rolled back: .*nix.*\(seeds\/03-third\.ts:8:\d+\)/)
      assert.match(hint ?? '', /^Correct the seed/)
      assert.deepEqual(await titles(), ['one', 'two', 'three'])
      await writeFiles(folder, { 'seeds/03-third.ts': adds("['four']") })
      assert.deepEqual((await seed({ sendsEvents: true }))?.ran, ['03-third', '04-fourth'])
      assert.equal(await messages(), 2)
    })

    test('a name chooses one, also without its number; --again repeats it', async () => {
      assert.deepEqual(await seed({ name: 'first' }), { ran: [], skipped: ['01-first'] })
      const { message } = await failure(seed({ name: '01-first', isAgain: true }))
      assert.match(message, /unique/i)
      const { code, hint } = await failure(seed({ name: '01-frist' }))
      assert.deepEqual([code, hint], ['WP_PROJECT_SEED_UNKNOWN', 'Did you mean "01-first"?'])
    })

    test('db:reset drops what the project has, migrates and seeds; the tables of Waypost stay', async () => {
      const report = await reset()
      assert.deepEqual(report?.dropped.flatMap(({ tables }) => tables).toSorted(), [
        'app_first',
        'app_open',
        'app_part',
        'app_todo',
      ])
      assert.deepEqual(
        report?.applied.map(({ name }) => name),
        ['20270101-todo'],
      )
      assert.deepEqual(
        report?.seeded.map(({ name }) => name),
        ['01-first', '02-second', '03-third', '04-fourth'],
      )
      assert.deepEqual(await titles(), ['one', 'two', 'three', 'four', 'five'])
      assert.equal(await messages(), 2, 'those from before')
      assert.deepEqual((await reset({ isSeeded: false }))?.seeded, [])
      assert.deepEqual(await titles(), [])
      assert.deepEqual((await seed())?.ran.length, 4, 'they count as not run')
    })

    test('a seed that cannot be built is named before db:reset drops anything', async () => {
      await writeFiles(folder, { 'seeds/05-fifth.ts': 'export default (' })
      const { code } = await failure(reset())
      assert.equal(code, 'WP_PROJECT_BROKEN')
      assert.equal((await titles()).length, 5)
      await rm(path.join(folder, 'seeds/05-fifth.ts'))
    })

    test('seeds wait for migrations that have not been applied', async () => {
      const file = 'migrations/System/20270102-more.ts'
      await writeFiles(folder, { [file]: 'export default { async up() {} }\n' })
      const { code, message } = await failure(seed({ isAgain: true }))
      assert.equal(code, 'WP_PROJECT_SEED_PENDING')
      assert.match(message, /System\/20270102-more/)
      await rm(path.join(folder, file))
    })

    test('on a System of a deployment, seeds are confirmed and db:reset is refused', async () => {
      const release = { manifest: { ...emptyManifest }, artifacts: [] }
      await activateRelease(host.system, release as never, { by: 'dev' })
      assert.equal((await reset({ isSeeded: false }))?.dropped.length, 1, 'the activations of dev do not count')
      await activateRelease(host.system, { ...release, manifest: { ...emptyManifest, waypost: '2' } } as never, {
        by: 'ann',
      })
      const asked: string[] = []
      const confirmDeployed = async (target: string) => asked.push(target) === 0
      assert.equal(await seed({ isAgain: true, confirmDeployed }), undefined)
      assert.equal(asked.length, 1)
      const { code } = await failure(reset())
      assert.equal(code, 'WP_PROJECT_RESET_DEPLOYED')
    })
  })
}

const emptyManifest = {
  format: 2,
  waypost: '1',
  routes: [],
  schemas: {},
  connections: {},
  events: {},
  scopes: {},
  cronjobs: {},
  rates: {},
  config: {},
  plugins: [],
  variables: {},
  migrations: [],
  artifacts: {},
}

test('the tests of a project can start with all of its seeds, or with some', async () => {
  const folder = path.join(temporary.folder, 'tested')
  await writeFiles(folder, files)
  const list = async (seed: boolean | readonly string[]) => {
    await using app = await createTestApp({ folder, seed })
    return (await app.inject('GET /todo')).body
  }
  assert.deepEqual(await list(false), [])
  assert.deepEqual(await list(true), ['one', 'two', 'three'])
  assert.deepEqual(await list(['second']), ['three'])
  await assert.rejects(list(['none']), { code: 'WP_PROJECT_SEED_UNKNOWN' })
})
