import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { dev, type DevConsole, type DevServer } from '../../src/project/index.ts'
import { checkout } from '../support/cli.ts'
import { until } from '../support/until.ts'

const files = {
  'waypost.yml': `config:
  docs: \${env.DOCS}
env:
  STEP: { type: integer, default: 1 }
schema: !include schema.yml
routes:
  /value: !include value.yml
  /count: { methods: { GET: { public: true, response: Value, action: src/count.ts } } }
  /step: { methods: { GET: { public: true, response: Value, action: src/step.ts } } }
  /page: { methods: { GET: { public: true, response: { type: object, additionalProperties: { type: string } }, action: src/page.ts } } }
  /slow: { methods: { GET: { public: true, response: Value, action: src/slow.ts } } }
`,
  'schema.yml': 'Value:\n  type: object\n  properties: { value: { type: integer } }\n',
  'value.yml': 'methods: { GET: { public: true, response: Value, action: src/value.ts } }\n',
  'src/value.ts': `import { base } from './base.ts'\nexport default class Value {\n  handle() {\n    return { value: base + 1, extra: 'no' }\n  }\n}\n`,
  'src/step.ts':
    'export default class Step {\n  handle(_, context) {\n    return { value: context.env.STEP }\n  }\n}\n',
  'src/base.ts': 'export const base = 0\n',
  'src/count.ts':
    'export default class Count {\n  count = 0\n  handle() {\n    this.count += 1\n    return { value: this.count }\n  }\n}\n',
  'src/slow.ts': `export default class Slow {
  async handle() {
    await globalThis.holdSlow?.()
    return { value: 1 }
  }
}
`,
  'src/page.ts': `import { readFile } from 'node:fs/promises'
export default class Page {
  async handle() {
    return { text: await readFile(new URL('../pages/page.html', import.meta.url), 'utf8') }
  }
}
`,
  'pages/page.html': 'one',
  '.env': 'DOCS=public\n',
}

describe('dev', () => {
  let root: string
  let server: DevServer
  let said: { what: string; about: Record<string, unknown> }[] = []

  before(async () => {
    root = await mkdtemp(path.join(tmpdir(), 'waypost-hot-'))
    for (const [file, text] of Object.entries(files)) await write(file, text)
    await mkdir(path.join(root, 'node_modules'))
    await symlink(checkout, path.join(root, 'node_modules/waypost'))
    const console = new Proxy({} as DevConsole, {
      get: (_, what: string) => (about: Record<string, unknown>) => said.push({ what, about }),
    })
    const { DOCS: _, STEP: __, ...environment } = process.env
    const variables = { ...environment, DOCS: 'public' }
    server = await dev({ folder: root, variables, port: 0, deliver: false, console })
    await server.reload() // after the check for saves during the start
    said = []
  })
  after(async () => {
    await server.close()
    await rm(root, { recursive: true })
  })

  async function write(file: string, text: string): Promise<void> {
    await mkdir(path.dirname(path.join(root, file)), { recursive: true })
    await writeFile(path.join(root, file), text)
  }
  const edit = async (file: string, from: string, to: string) => {
    const text = await readFile(path.join(root, file), 'utf8')
    assert.ok(text.includes(from), `"${from}" does not stand in ${file}`)
    await write(file, text.replace(from, to))
  }
  async function ask(route: string): Promise<{ status: number; body: { value?: unknown; openapi?: string } }> {
    const response = await fetch(`${server.started.url}${route}`)
    return { status: response.status, body: (await response.json()) as object }
  }
  const valueOf = async (route: string) => (await ask(route)).body.value

  /** Returns a summary of all console events so far. */
  async function hear(): Promise<string[]> {
    for (let quiet = 0, before = 0; quiet < 5; quiet = said.length > before ? 0 : quiet + 1) {
      before = said.length
      await pause(20)
    }
    const heard = said.filter(({ what }) => what !== 'answered')
    said = []
    return heard.map(({ what, about }) => {
      const {
        files: names,
        diagnostics,
        isFixed,
      } = about as {
        files?: string[]
        diagnostics?: { code: string }[]
        isFixed?: boolean
      }
      return [what, ...(names ?? []), ...(diagnostics ?? []).map(({ code }) => code), isFixed ? 'fixed' : '']
        .join(' ')
        .trim()
    })
  }

  /** Saves and waits for all its events: a save may be reported as two. */
  async function save(work: () => Promise<void>): Promise<void> {
    const before = said.length
    await work()
    await until('something is said of a save', () => said.length > before)
    for (let count = 0; count < said.length; await pause(60)) count = said.length
  }

  test('a save of an action, of its imports, of an included file, a schema or waypost.yml is visible in the next request', async () => {
    assert.equal(await valueOf('/value'), 1)
    await save(() => edit('src/value.ts', '+ 1', '+ 2'))
    assert.equal(await valueOf('/value'), 2)
    assert.deepEqual(await hear(), ['reloaded src/value.ts'])
    await save(() => edit('src/base.ts', '= 0', '= 10'))
    assert.equal(await valueOf('/value'), 12)
    assert.deepEqual(await hear(), ['reloaded src/base.ts'])
    await save(() => edit('schema.yml', '} }', '}, extra: { type: string } }'))
    assert.deepEqual((await ask('/value')).body, { value: 12, extra: 'no' })
    await save(() => write('schema.yml', files['schema.yml']))
    assert.deepEqual((await ask('/value')).body, { value: 12 })
    await hear()
    await save(() => edit('value.yml', 'public: true', 'scopes: [secret]'))
    assert.equal((await ask('/value')).status, 401)
    await save(() => write('value.yml', files['value.yml']))
    assert.equal((await ask('/value')).status, 200)
    await save(() => edit('waypost.yml', '/slow:', '/slower:'))
    assert.deepEqual([(await ask('/slow')).status, (await ask('/slower')).status], [404, 200])
    await save(() => write('waypost.yml', files['waypost.yml']))
    assert.deepEqual([(await ask('/slow')).status, (await ask('/slower')).status], [200, 404])
    await hear()
  })

  test('a save of a file that an action names by new URL shows in the next request, wherever it is', async () => {
    const read = async () => ((await ask('/page')).body as { text?: string }).text
    assert.equal(await read(), 'one')
    await save(() => write('pages/page.html', 'two'))
    assert.equal(await read(), 'two')
    assert.deepEqual(await hear(), ['reloaded pages/page.html'])
    await save(() => rm(path.join(root, 'pages/page.html')))
    assert.deepEqual(await hear(), ['reloadFailed pages/page.html WP_BUILD_FILE_REFUSED'])
    assert.equal(await read(), 'two')
    await save(() => write('pages/page.html', 'three'))
    assert.equal(await read(), 'three')
    await hear()
  })

  test('an edit of an action replaces that action alone', async () => {
    const before = Number(await valueOf('/count'))
    await save(() => edit('src/value.ts', '+ 2', '+ 3'))
    assert.equal(await valueOf('/value'), 13)
    assert.equal(await valueOf('/count'), before + 1)
    await save(() => edit('src/count.ts', 'count = 0', 'count = 100'))
    assert.equal(await valueOf('/count'), 101)
    await save(() => edit('value.yml', 'public: true', 'public: true, description: Another'))
    assert.equal(await valueOf('/value'), 13)
    assert.equal(await valueOf('/count'), 102)
    await hear()
  })

  test('a request in flight ends with the code of its start', async () => {
    const [began, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const held = globalThis as { holdSlow?: (() => Promise<void>) | undefined }
    held.holdSlow = () => {
      began.resolve()
      return end.promise
    }
    const slow = valueOf('/slow')
    await began.promise
    held.holdSlow = undefined
    await save(() => edit('src/slow.ts', 'value: 1', 'value: 2'))
    await save(() => edit('waypost.yml', '/count:', '/counted:')) // builds a new generation
    assert.equal((await ask('/counted')).status, 200)
    end.resolve()
    assert.equal(await slow, 1)
    assert.equal(await valueOf('/slow'), 2)
    await save(() => write('waypost.yml', files['waypost.yml']))
    await hear()
  })

  test('a broken save keeps the last valid state, reports the error once, and its correction', async () => {
    await save(() => edit('value.yml', 'response: Value', 'response: Vlue'))
    assert.equal(await valueOf('/value'), 13)
    assert.deepEqual(await hear(), ['reloadFailed value.yml WP_DEFINITION_SCHEMA_UNKNOWN'])
    await save(() => edit('src/value.ts', '+ 3', '+ 4')) // the code alone is valid
    assert.equal(await valueOf('/value'), 13)
    assert.deepEqual(await hear(), ['reloadFailed src/value.ts WP_DEFINITION_SCHEMA_UNKNOWN'])
    await save(() => edit('value.yml', 'response: Vlue', 'response: Value'))
    assert.equal(await valueOf('/value'), 14)
    assert.deepEqual(await hear(), ['reloaded value.yml fixed'])
    await save(() => edit('src/value.ts', 'return {', 'return {{'))
    assert.equal(await valueOf('/value'), 14)
    assert.deepEqual(await hear(), ['reloadFailed src/value.ts WP_BUILD_SOURCE'])
    await save(() => edit('src/value.ts', 'return {{', 'return {'))
    assert.deepEqual(await hear(), ['reloaded src/value.ts fixed'])
    await save(() => edit('src/value.ts', 'class Value {', 'class Value {\n  constructor() { throw new Error("no") }'))
    assert.equal(await valueOf('/value'), 14)
    assert.deepEqual(await hear(), ['reloadFailed src/value.ts'])
    await save(() => edit('src/value.ts', '\n  constructor() { throw new Error("no") }', ''))
    assert.deepEqual(await hear(), ['reloaded src/value.ts fixed'])
  })

  test('a waypost.yml that is empty for a moment during a save takes nothing out of service', async () => {
    const before = await valueOf('/value')
    await save(() => write('waypost.yml', ''))
    assert.equal(await valueOf('/value'), before)
    assert.deepEqual(await hear(), ['reloadFailed waypost.yml WP_DEFINITION_EMPTY'])
    await save(() => write('waypost.yml', files['waypost.yml']))
    assert.equal(await valueOf('/value'), before)
    assert.deepEqual(await hear(), ['reloaded waypost.yml fixed'])
  })

  test('files that come and go are followed, in the three ways that editors save', async () => {
    await save(() => rm(path.join(root, 'src/base.ts')))
    assert.equal(await valueOf('/value'), 14)
    assert.deepEqual(await hear(), ['reloadFailed src/base.ts WP_BUILD_IMPORT_MISSING'])
    await save(() => write('src/base.ts', 'export const base = 20\n'))
    assert.equal(await valueOf('/value'), 24)
    assert.deepEqual(await hear(), ['reloaded src/base.ts fixed'])
    await save(async () => {
      await write('src/base.ts~', 'export const base = 30\n')
      await rename(path.join(root, 'src/base.ts~'), path.join(root, 'src/base.ts'))
    })
    assert.equal(await valueOf('/value'), 34)
    assert.deepEqual(await hear(), ['reloaded src/base.ts'])
    await save(async () => {
      await write('src/new.ts', 'export default class New {\n  handle() {\n    return { value: 7 }\n  }\n}\n')
      await edit(
        'waypost.yml',
        '  /count:',
        '  /new: { methods: { GET: { public: true, response: Value, action: src/new.ts } } }\n  /count:',
      )
    })
    assert.equal(await valueOf('/new'), 7)
    await hear()
    await save(() => rm(path.join(root, 'src/new.ts')))
    assert.equal(await valueOf('/new'), 7)
    assert.deepEqual(await hear(), ['reloadFailed src/new.ts WP_BUILD_ACTION_MISSING'])
    await save(() => rename(path.join(root, 'src'), path.join(root, 'source')))
    await hear()
    await save(() => rename(path.join(root, 'source'), path.join(root, 'src')))
    await save(() => write('waypost.yml', files['waypost.yml']))
    assert.equal((await ask('/new')).status, 404)
    assert.equal(await valueOf('/value'), 34)
    assert.match((await hear()).join('\n'), /fixed/)
  })

  test('a save of .env is visible in the next request, and variables that apply only at start are named', async () => {
    assert.equal((await ask('/openapi.json')).body.openapi, '3.1.0')
    await save(() => write('.env', 'DOCS=off\n'))
    assert.equal((await ask('/openapi.json')).status, 404)
    assert.deepEqual(await hear(), ['reloaded .env'])
    await save(() => write('.env', ''))
    assert.deepEqual(await hear(), ['reloadFailed .env WP_DEFINITION_ENV_MISSING'])
    await save(() => write('.env', 'DOCS=public\nPORT=81\n'))
    assert.equal((await ask('/openapi.json')).status, 200)
    assert.deepEqual(await hear(), ['warned', 'reloaded .env fixed'])
  })

  test('a save of .env changes the variables of actions; a value of another type is rejected', async () => {
    await save(() => write('.env', 'DOCS=public\nPORT=81\nSTEP=11\n'))
    assert.equal(await valueOf('/step'), 11)
    await save(() => write('.env', 'DOCS=public\nPORT=81\nSTEP=few\n'))
    assert.equal(await valueOf('/step'), 11)
    await save(() => write('.env', 'DOCS=public\nPORT=81\n'))
    assert.equal(await valueOf('/step'), 1)
    assert.deepEqual(await hear(), ['reloaded .env', 'reloadFailed .env WP_DEFINITION_ENV_TYPE', 'reloaded .env fixed'])
  })

  test('no save is lost that happened while the project was broken or the file unused', async () => {
    await save(() => write('waypost.yml', `${files['waypost.yml']}broken\n`))
    await save(() => edit('schema.yml', '} }', '}, extra: { type: string } }'))
    await save(() => write('waypost.yml', files['waypost.yml']))
    // The schema was not read while waypost.yml was invalid.
    assert.deepEqual((await ask('/value')).body, { value: 34, extra: 'no' })
    await save(() =>
      edit(
        'waypost.yml',
        '/value: !include value.yml',
        '/value: { methods: { GET: { public: true, response: Value, action: src/value.ts } } }',
      ),
    )
    await save(() => edit('value.yml', 'public: true', 'scopes: [secret]'))
    await save(() => write('waypost.yml', files['waypost.yml']))
    assert.equal((await ask('/value')).status, 401) // nor was this file, which nothing included
    await save(() => write('schema.yml', files['schema.yml']))
    await save(() => write('value.yml', files['value.yml']))
    await save(() => write('waypost.yml', 'routes: {}\n'))
    await save(() => edit('src/base.ts', '= 30', '= 40'))
    await save(() => write('waypost.yml', files['waypost.yml']))
    assert.equal(await valueOf('/value'), 44)
    await save(() => edit('src/value.ts', 'return {', 'return {{'))
    await save(() => write('.env', 'DOCS=off\n'))
    await save(() => edit('src/value.ts', 'return {{', 'return {'))
    assert.equal((await ask('/openapi.json')).status, 404)
    await save(() => write('.env', 'DOCS=public\n'))
    await save(() => write('waypost.yml', `${files['waypost.yml']}plugins: [nosuch]\n`.replace('/slow:', '/slower:')))
    await save(() => edit('src/value.ts', '+ 4', '+ 3'))
    assert.deepEqual(
      [(await ask('/slow')).status, (await hear()).at(-1)],
      [200, 'reloadFailed src/value.ts WP_PLUGIN_MISSING'],
    )
    await save(() => write('waypost.yml', files['waypost.yml']))
    assert.equal(await valueOf('/value'), 43)
    await hear()
  })

  test('an action may be a link, and a file that was missing for a moment is found again', async () => {
    await save(async () => {
      await rename(path.join(root, 'src/value.ts'), path.join(root, 'src/real.ts'))
      await symlink('real.ts', path.join(root, 'src/value.ts'))
    })
    assert.equal(await valueOf('/value'), 43)
    await save(() => edit('src/real.ts', '+ 3', '+ 4'))
    assert.equal(await valueOf('/value'), 44)
    const text = await readFile(path.join(root, 'src/real.ts'), 'utf8')
    await rm(path.join(root, 'src/value.ts'))
    await symlink('nothing.ts', path.join(root, 'src/value.ts'))
    await hear()
    await rm(path.join(root, 'src/value.ts'))
    await save(() => write('src/value.ts', text))
    await save(() => edit('src/value.ts', '+ 4', '+ 4 '))
    assert.match((await hear()).at(-1)!, /^reloaded src\/value.ts/)
    assert.equal(await valueOf('/value'), 44)
  })

  test('an unreadable .env is reported, and later saves are loaded', async () => {
    await save(() => rm(path.join(root, '.env')))
    await save(() => mkdir(path.join(root, '.env')))
    await hear()
    await save(async () => {
      await rm(path.join(root, '.env'), { recursive: true })
      await write('.env', 'DOCS=public\n')
    })
    await save(() => edit('src/base.ts', '= 40', '= 30'))
    assert.equal(await valueOf('/value'), 34)
    await hear()
  })

  test('two actions with the same text can be swapped', async () => {
    for (const name of ['x', 'y']) await write(`src/${name}.ts`, "export { default } from './value.ts'\n")
    const route = (file: string) =>
      `  /same: { methods: { GET: { public: true, response: Value, action: ${file} } } }\n`
    await save(() => write('waypost.yml', files['waypost.yml'] + route('src/x.ts')))
    await until('the route of x.ts is served', async () => (await valueOf('/same')) === 34)
    await save(() => write('waypost.yml', files['waypost.yml'] + route('src/y.ts')))
    assert.equal(await valueOf('/same'), 34)
    assert.doesNotMatch((await hear()).join('\n'), /reloadFailed/)
    await save(() => write('waypost.yml', files['waypost.yml']))
    await hear()
  })

  test('types are written only when they change', async () => {
    const types = path.join(root, '.waypost/types.d.ts')
    const changedAt = async () => (await stat(types)).mtimeMs
    const before = await changedAt()
    await save(() => edit('src/value.ts', '+ 4', '+ 5'))
    await save(() => edit('value.yml', 'public: true', 'public: true, timeout: 5s'))
    assert.equal(await valueOf('/value'), 35)
    await hear()
    assert.equal(await changedAt(), before)
    await edit('value.yml', 'public: true', 'public: true, parameters: { page: { type: integer } }')
    await hear()
    assert.ok((await changedAt()) > before)
    assert.match(await readFile(types, 'utf8'), /page\?: number/)
  })

  test('files that do not belong to a project are not reported', async () => {
    await write('notes.md', 'a')
    await write('src/.value.ts.swp', 'a')
    await symlink('nobody@host.1', path.join(root, 'src/.#value.ts'))
    await write('test/value.test.ts', 'a')
    await pause(600)
    assert.deepEqual(await hear(), [])
    await server.reload()
    assert.deepEqual(await hear(), ['reloaded']) // a requested reload is always reported
  })
})
