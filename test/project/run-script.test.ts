import assert from 'node:assert/strict'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { openHost } from '../../src/host/index.ts'
import { migrateProject, runScript, type RunScriptOptions } from '../../src/project/index.ts'
import { writeFiles } from '../support/project-server.ts'
import { useTemporaryFolder } from '../testing/temporary-folder.ts'

const files = {
  'package.json': '{ "type": "module", "imports": { "#lib/*": "./lib/*" } }',
  'tsconfig.json': '{ "compilerOptions": { "paths": { "@lib/*": ["./lib/*"] }, "experimentalDecorators": true } }',
  'waypost.yml': `
routes: { /broken: { methods: { GET: { public: true, action: src/missing.ts } } } }
event: { told: { description: Told, scopes: [todo] } }
env: { STEP: { type: integer, default: 7 } }
`,
  'lib/told.ts': 'export const told: unknown[] = ((globalThis as any).told ??= [])\n',
  'scripts/function.ts': `import { told } from '@lib/told.ts'
enum Step { first = 1 }
export default async (context, args: readonly string[]) => {
  told.push(args, context.env.STEP + Step.first, context.principal ?? 'no caller')
  context.log.warn('careful')
  await context.dispatch('told', { args })
}
`,
  'scripts/class.ts': `import { told } from '@lib/told.ts'
export default class Import {
  #base = 'handled'
  handle = async (request, context) => {
    told.push(this.#base, request.params.args, request.params.cronjob, context.now() instanceof Date)
  }
}
`,
  'scripts/fails.ts': `export default async () => {
  await null
  const title: string | undefined = undefined
  return title!.trim()
}
`,
  'scripts/waits.ts': `export default (context) => new Promise((_, reject) => {
  context.signal.addEventListener('abort', () => reject(context.signal.reason))
  globalThis.begun()
})
`,
  'scripts/nothing.ts': 'export default { handle() {} }\n',
  'scripts/broken.ts': 'export default (\n',
}

const told: unknown[] = ((globalThis as { told?: unknown[] }).told ??= [])
let folder: string
let temporary: Awaited<ReturnType<typeof useTemporaryFolder>>
before(async () => {
  temporary = await useTemporaryFolder()
  folder = path.join(temporary.folder, 'scripts')
  await writeFiles(folder, files)
  await migrateProject({ folder, variables: {} })
})
after(() => temporary.remove())

let logs: string[] = []
let problems: string[] = []
async function run(file: string, args: readonly string[] = [], options: Partial<RunScriptOptions> = {}) {
  told.length = 0
  logs = []
  problems = []
  await runScript({
    folder,
    variables: {},
    file,
    args,
    console: { logged: ({ level, message }) => logs.push(`${level} ${message}`) },
    onDiagnostics: (found) => problems.push(...found.map((one) => `${one.file}:${one.range.start.line}`)),
    ...options,
  })
  return [...told]
}

test('a function gets a context without a caller and its arguments, and its events are sent', async () => {
  assert.deepEqual(await run('scripts/function.ts', ['a', '--b']), [['a', '--b'], 8, 'no caller'])
  assert.deepEqual(logs, ['warn careful'])
  const host = await openHost({ folder, variables: {} })
  const rows = await host.system.db.selectFrom('waypost_message').select('data').execute()
  await host.close()
  assert.deepEqual(rows, [{ data: '{"args":["a","--b"]}' }])
})

test('a class is handled like that of a cronjob', async () => {
  assert.deepEqual(await run(path.join(folder, 'scripts/class.ts'), ['a']), [
    'handled',
    ['a'],
    'scripts/class.ts',
    true,
  ])
})

test('a failure names its line in the sources', async () => {
  await assert.rejects(run('scripts/fails.ts'), {
    code: 'WP_PROJECT_SCRIPT_FAILED',
    message: /^scripts\/fails\.ts failed: TypeError: .*trim.*\(scripts\/fails\.ts:4:17\)$/,
  })
  await assert.rejects(run('scripts/broken.ts'), { code: 'WP_PROJECT_BROKEN' })
  assert.deepEqual(problems, ['scripts/broken.ts:2'])
})

test('a file without a script, or that does not exist, is an error that says what to do', async () => {
  await assert.rejects(run('scripts/nothing.ts'), { code: 'WP_PROJECT_SCRIPT_FORM' })
  await assert.rejects(run('lib/told.ts'), { code: 'WP_PROJECT_BROKEN' })
  assert.deepEqual(problems, ['lib/told.ts:1'])
  await assert.rejects(run('scripts/functoin.ts'), { hint: 'Did you mean scripts/function.ts?' })
  await assert.rejects(run('scripts/class'), { hint: 'Did you mean scripts/class.ts?' })
  await assert.rejects(run('scripts'), { code: 'WP_PROJECT_SCRIPT_MISSING' })
  await assert.rejects(run('../other.ts'), { code: 'WP_PROJECT_SCRIPT_MISSING' })
})

test('it stops when its signal aborts', async () => {
  const stop = new AbortController()
  ;(globalThis as { begun?: () => void }).begun = () => stop.abort(new Error('stopped'))
  await assert.rejects(run('scripts/waits.ts', [], { signal: stop.signal }), { message: 'stopped' })
})
