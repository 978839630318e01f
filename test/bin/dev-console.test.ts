import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { DevConsole } from '../../bin/cli/index.ts'
import { WaypostError, type Diagnostic } from '../../src/kit/index.ts'

type Started = Parameters<DevConsole['started']>[0]

const started: Started = {
  project: 'todo',
  url: 'http://localhost:3000',
  network: [],
  docs: 'http://localhost:3000/docs',
  backend: undefined,
  target: '.waypost/system.db',
  envFiles: [],
  user: { name: 'dev', password: 'ivory-walrus-6543' },
  migration: { applied: [{ connection: 'System', name: '20261120-create-app-todo', ms: 3 }], written: [] },
  delivers: true,
  suggestions: [{ method: 'GET', path: '/todo', needsToken: false, body: undefined }],
  isServing: true,
  ms: 380,
}

/** Returns the output at start on a terminal of this width. */
function printStarted(t: TestContext, columns: number, news: Partial<Started> = {}): string[] {
  return printOn(t, columns, (dev) => dev.started({ ...started, ...news }))
}

/** Returns what is printed on a terminal of this width. */
function printOn(t: TestContext, columns: number, print: (dev: DevConsole) => void): string[] {
  let text = ''
  const before = process.stdout.columns
  process.stdout.columns = columns
  const write = t.mock.method(process.stdout, 'write', (part: string) => {
    text += part
    return true
  })
  try {
    print(new DevConsole())
  } finally {
    write.mock.restore()
    process.stdout.columns = before
  }
  return text.split('\n')
}

test('a project with errors is not said to be ready', (t) => {
  assert.ok(printStarted(t, 100).includes('  Ready in 0.38 s.'))
  const without = '  Ready in 0.38 s, without the routes of the project: see its errors below.'
  assert.ok(printStarted(t, 100, { isServing: false }).includes(without))
})

test('the files of a mode are named at the start', (t) => {
  const shown = (envFiles: readonly string[]) =>
    printStarted(t, 100, { envFiles }).find((line) => line.includes('.env'))
  assert.equal(shown(['.env']), undefined)
  assert.equal(
    shown(['.env', '.env.local']),
    '  Variables .env, .env.local                (the last one takes precedence)',
  )
})

test('the output of dev has columns on a wide terminal', (t) => {
  assert.deepEqual(printStarted(t, 120).slice(3, 8), [
    '  API       http://localhost:3000',
    '  Docs      http://localhost:3000/docs',
    '  Sign in   dev / ivory-walrus-6543         (stored in .waypost/dev.json; has all scopes)',
    '  System    .waypost/system.db              1 migration applied',
    '  Events    delivered by this process       (--no-deliver disables this)',
  ])
})

test('a target longer than its column is followed by two spaces, or by a line break', (t) => {
  const target = 'postgresql://postgres@127.0.0.1:46547/devsys'
  const systemAt = (columns: number) =>
    printStarted(t, columns, { target }).filter((line) => /System|applied/.test(line))
  assert.deepEqual(systemAt(80), [`  System    ${target}  1 migration applied`])
  assert.deepEqual(systemAt(60), [`  System    ${target}`, '            1 migration applied'])
})

test('warnings of the start are listed once, and not again after a save', (t) => {
  const range = { start: { line: 3, column: 7 }, end: { line: 3, column: 13 } }
  const warning: Diagnostic = { code: 'WP_TEST', severity: 'warning', message: 'Odd', file: 'src/a.ts', range }
  const text = printOn(t, 80, (dev) => {
    dev.foundWarnings([])
    dev.foundWarnings([warning])
    const migration = { applied: [], written: [] } as const
    dev.reloaded({ files: ['src/b.ts'], ms: 5, diagnostics: [warning], migration, isFixed: false })
  }).join('\n')
  assert.match(text, /^[\d:]{8} {2}1 warning\n {10}src\/a\.ts:3:7 {2}warning {2}Odd\n/)
  assert.match(text, /reload src\/b\.ts {3}5\.0 ms, 1 warning as before\n$/)
  assert.equal(text.match(/Odd/g)?.length, 1)
})

for (const columns of [60, 80, 140]) {
  test(`the output of dev fits ${columns} columns`, (t) => {
    const source = 'src/orders/of-customers/collection.ts'
    const after = printOn(t, columns, (dev) => {
      const migration = {
        applied: [],
        written: ['migrations/System/tables.ts', 'migrations/System/tables.json'],
      } as const
      const files = ['resources/routes/orders/collection.yml', source]
      dev.reloaded({ files, ms: 12, diagnostics: [], migration, isFixed: true, origin: 'backend' })
      const error = new WaypostError('WP_TEST', {
        kind: 'user',
        status: 500,
        message: `Cannot load ${source}: it took longer than 30 s to load, and that is the limit`,
        hint: 'Check for a top-level await that never completes, or a loop that runs while the file is loaded.',
      })
      dev.reloadFailed({ files: [source], diagnostics: [], error, isServing: true, origin: undefined })
      dev.warned('Migrations applied to the database, but missing from the project: "20261121-note"')
      dev.unhandledError(error)
      dev.ranCronjob({ name: 'tidy-what-no-one-needs-any-more', slot: 0, outcome: 'failed', ms: 12_000, error })
    })
    assert.ok(after.length >= 5)
    for (const line of [...printStarted(t, columns), ...after])
      assert.ok(line.length <= columns && line === line.trimEnd(), line)
  })
}
