import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { dev, type DevConsole } from '../../src/project/index.ts'
import type { ImportLimits } from '../../src/release/index.ts'
import { checkout } from '../support/cli.ts'
import { until } from '../support/until.ts'

const definition = `schema: { Value: { type: object, properties: { value: { type: integer } } } }
routes:
  /value: { methods: { GET: { public: true, response: Value, action: src/value.ts } } }
`
const actionWith = (value: number, head = '') =>
  `${head}export default class Value {\n  handle() {\n    return { value: ${value} }\n  }\n}\n`
const pending = (value: number) =>
  actionWith(value, `globalThis.waitingImport = ${value}\nawait new Promise(() => {})\n`)
const untilWaiting = (value: number) =>
  until('the import waits', () => (globalThis as { waitingImport?: number }).waitingImport === value)
/** Imports must end for another reason, or the test never ends. */
const forever = 3_600_000
const waits = 'The import of src/value.ts did not finish'

/** Creates a project with one action. */
async function openProject(t: TestContext, action: string) {
  const root = await mkdtemp(path.join(tmpdir(), 'waypost-pending-'))
  t.after(() => rm(root, { recursive: true }))
  const write = async (file: string, text: string) => {
    await mkdir(path.dirname(path.join(root, file)), { recursive: true })
    await writeFile(path.join(root, file), text)
  }
  await write('waypost.yml', definition)
  await write('src/value.ts', action)
  await mkdir(path.join(root, 'node_modules'))
  await symlink(checkout, path.join(root, 'node_modules/waypost'))
  const refused: (string | undefined)[] = []
  const console = new Proxy({} as DevConsole, {
    get: (_, what: string) => (about: { error?: Error }) =>
      what === 'reloadFailed' && refused.push(about.error?.message),
  })
  const start = (imports: ImportLimits) =>
    dev({ folder: root, variables: { ...process.env }, port: 0, deliver: false, console, imports })
  return { write, refused, start }
}

test('dev rejects a save whose import waits forever, continues to serve the previous version, and loads the next save', async (t) => {
  const { write, refused, start } = await openProject(t, actionWith(1))
  const server = await start({ timeoutMs: 1500 })
  try {
    const ask = async () => (await fetch(`${server.started.url}/value`)).json()
    await write('src/value.ts', pending(2))
    await server.reload()
    assert.ok(refused.includes(waits))
    assert.deepEqual(await ask(), { value: 1 })
    await write('src/value.ts', actionWith(3))
    await server.reload()
    assert.deepEqual(await ask(), { value: 3 })
  } finally {
    await server.close()
  }
})

test('dev ends while an import waits', async (t) => {
  const { write, start } = await openProject(t, actionWith(11))
  const server = await start({ timeoutMs: forever })
  await write('src/value.ts', pending(12))
  void server.reload()
  await untilWaiting(12)
  await server.close()
})

test('dev can be ended while it starts and an import waits', async (t) => {
  const { refused, start } = await openProject(t, pending(21))
  const stop = new AbortController()
  const starting = start({ timeoutMs: forever, signal: stop.signal })
  await untilWaiting(21)
  stop.abort()
  await (await starting).close()
  assert.equal(refused[0], waits)
})
