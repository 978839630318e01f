import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { actionFile, writeFiles } from '../support/project-server.ts'
import { useTemporaryFolder } from './temporary-folder.ts'

const files = {
  'waypost.yml': 'routes: { /a: { methods: { GET: { public: true, action: src/a.ts } } } }\n',
  'src/a.ts': `import { name } from './name.ts'\n${actionFile('return { name: name() }')}`,
  'src/name.ts': `export function name(): string {\n  return 'real'\n}\n`,
  'run.mjs': `
import { mock } from 'node:test'
import { createTestApp } from ${JSON.stringify(pathToFileURL(path.resolve('src/testing/index.ts')).href)}

const app = await createTestApp()
const { body } = await app.inject('GET /a')
await app.close()
mock.module(new URL('src/name.ts', import.meta.url).href, { namedExports: { name: () => 'mocked' } })
const mocked = await createTestApp().catch((error) => error.code)
process.send({ body, mocked })
process.disconnect()
`,
}

let folder: string
let temporary: Awaited<ReturnType<typeof useTemporaryFolder>>
before(async () => {
  temporary = await useTemporaryFolder()
  folder = temporary.folder
  await writeFiles(folder, files)
})
after(() => temporary.remove())

test('runners see the files of the project: for the coverage of lines, for --watch, and why a mock has no effect', async () => {
  const coverage = path.join(folder, 'node-coverage-1') // as `node --test` names it
  const env = { ...process.env, VITEST: 'true', NODE_V8_COVERAGE: coverage, WATCH_REPORT_DEPENDENCIES: '1' }
  const execArgv = ['--experimental-test-module-mocks', '--no-warnings']
  const child = fork(path.join(folder, 'run.mjs'), { cwd: folder, env, execArgv, silent: true })
  let errors = ''
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (errors += text))
  const messages: Record<string, unknown>[] = []
  child.on('message', (message) => void messages.push(message as Record<string, unknown>))
  assert.deepEqual(await once(child, 'close'), [0, null])
  assert.equal(errors, 'The coverage of Node has no actions without --enable-source-maps. See docs/testing.md.\n')

  assert.deepEqual(messages.at(-1), { body: { name: 'real' }, mocked: 'WP_PROJECT_TEST_MOCKED' })
  const watched = new Set(messages.flatMap((message) => (message['watch:import'] ?? []) as string[]))
  const urlOf = (file: string) => pathToFileURL(path.join(folder, file)).href
  for (const file of ['waypost.yml', 'src/a.ts', 'src/name.ts']) assert.ok(watched.has(urlOf(file)), file)

  const reports = await readReports(coverage)
  const maps = reports.flatMap((report) => Object.entries(report['source-map-cache']))
  const [url] = maps.find(([, { data }]) => data?.sources.includes(urlOf('src/name.ts')) === true)!
  assert.ok(url.startsWith(urlOf('src/')), url)
  assert.ok(maps.every(([of]) => of.startsWith('file:')))
  const functions = reports.flatMap(({ result }) => result.filter((script) => script.url === url))
  const called = functions.flatMap((script) => script.functions).find(({ functionName }) => functionName === 'handle')
  assert.equal(called?.ranges[0]?.count, 1)
})

interface Report {
  readonly result: readonly {
    readonly url: string
    readonly functions: readonly { functionName: string; ranges: readonly { count: number }[] }[]
  }[]
  readonly 'source-map-cache': Readonly<Record<string, { readonly data: { readonly sources: string[] } | null }>>
}

async function readReports(of: string): Promise<Report[]> {
  const names = await readdir(of)
  return Promise.all(names.map(async (name) => JSON.parse(await readFile(path.join(of, name), 'utf8')) as Report))
}
