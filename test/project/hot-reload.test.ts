import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { mkdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, test } from 'node:test'
import { typesReplaced } from '../../src/project/index.ts'
import { until } from '../support/until.ts'
import { useDevFolder, files } from './dev-folder.ts'

describe('dev', () => {
  const folder = useDevFolder()
  const { write, edit, ask, valueOf, shows, takeReports, save, waitForReports } = folder

  test('types of another branch are replaced, and the start says so', () => {
    const warnings = folder.atStart.filter(({ what }) => what === 'warned')
    assert.deepEqual(warnings, [{ what: 'warned', about: typesReplaced }])
  })

  test('a save of an action, of its imports, of an included file, a schema or waypost.yml is visible in the next request', async () => {
    assert.equal(await valueOf('/value'), 1)
    await save(() => edit('src/value.ts', '+ 1', '+ 2'))
    assert.equal(await valueOf('/value'), 2)
    assert.deepEqual(takeReports(), ['reloaded src/value.ts'])
    await save(() => edit('src/base.ts', '= 0', '= 10'))
    assert.equal(await valueOf('/value'), 12)
    assert.deepEqual(takeReports(), ['reloaded src/base.ts'])
    await save(() => edit('schema.yml', '} }', '}, extra: { type: string } }'))
    assert.deepEqual((await ask('/value')).body, { value: 12, extra: 'no' })
    await save(() => write('schema.yml', files['schema.yml']))
    assert.deepEqual((await ask('/value')).body, { value: 12 })
    takeReports()
    await save(() => edit('value.yml', 'public: true', 'scopes: [secret]'))
    assert.equal((await ask('/value')).status, 401)
    await save(() => write('value.yml', files['value.yml']))
    assert.equal((await ask('/value')).status, 200)
    await save(() => edit('waypost.yml', '/slow:', '/slower:'))
    assert.deepEqual([(await ask('/slow')).status, (await ask('/slower')).status], [404, 200])
    await save(() => write('waypost.yml', files['waypost.yml']))
    assert.deepEqual([(await ask('/slow')).status, (await ask('/slower')).status], [200, 404])
    takeReports()
  })

  test('a save of a file that an action names by new URL shows in the next request, wherever it is', async () => {
    const read = async () => ((await ask('/page')).body as { text?: string }).text
    assert.equal(await read(), 'one')
    await save(() => write('pages/page.html', 'two'))
    assert.equal(await read(), 'two')
    assert.deepEqual(takeReports(), ['reloaded pages/page.html'])
    await save(() => write('pages/page.html', 'one'))
    assert.equal(await read(), 'one')
    await save(() => write('pages/page.html', 'two'))
    takeReports()
    await save(() => rm(path.join(folder.root, 'pages/page.html')))
    assert.deepEqual(takeReports(), ['reloadFailed pages/page.html WP_BUILD_FILE_REFUSED'])
    assert.equal(await read(), 'two')
    await save(() => write('pages/page.html', 'three'))
    assert.equal(await read(), 'three')
    takeReports()
  })

  test('a save of a file in a static folder, a new one and a removed one show in the next request', async () => {
    const file = (value: number) => JSON.stringify({ value })
    await write('public/a.json', file(1))
    await save(() => edit('waypost.yml', 'routes:', 'static: { /files: { folder: public } }\nroutes:'))
    assert.equal(await valueOf('/files/a.json'), 1)
    takeReports()
    await save(() => write('public/a.json', file(2)))
    assert.equal(await valueOf('/files/a.json'), 2)
    assert.deepEqual(takeReports(), ['reloaded public/a.json'])
    await save(() => write('public/b.json', file(3)))
    assert.equal(await valueOf('/files/b.json'), 3)
    await save(() => rm(path.join(folder.root, 'public/b.json')))
    assert.equal((await ask('/files/b.json')).status, 404)
    await save(() => write('waypost.yml', files['waypost.yml']))
    assert.equal((await ask('/files/a.json')).status, 404)
    takeReports()
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
    takeReports()
  })

  test('a save of a route step, or of the steps of a method, is visible in the next request', async () => {
    const step = (value: number) => `export default class Step { handle() { return ${value} } }\n`
    const shown = async () => ((await ask('/stepped')).body as { value?: unknown }).value
    const route = (steps: string) =>
      `\n  /stepped: { methods: { GET: { public: true, ${steps}response: { type: object, properties: { value: { type: integer } } }, action: src/stepped.ts } } }\n`
    await write('src/step.ts', step(1))
    const action = 'async handle(_: unknown, context: any) { return { value: context.state.one ?? 0 } }'
    await write('src/stepped.ts', `export default class Stepped { ${action} }\n`)
    await save(() => edit('waypost.yml', 'routes:', `routes:${route('steps: [{ one: src/step.ts }], ')}`))
    assert.equal(await shown(), 1)
    await save(() => write('src/step.ts', step(2)))
    assert.equal(await shown(), 2)
    await save(() => edit('waypost.yml', 'steps: [{ one: src/step.ts }], ', ''))
    // The save before may be reported twice, and then counts for this one too.
    await until('the step is gone', async () => (await shown()) === 0)
    await save(() => write('waypost.yml', files['waypost.yml']))
    takeReports()
  })

  test('a request in flight ends with the code of its start', async () => {
    const [began, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const held = globalThis as { holdSlow?: (() => Promise<void>) | undefined }
    held.holdSlow = () => {
      began.resolve()
      return end.promise
    }
    const slow = valueOf('/slow')
    await Promise.race([began.promise, slow.then((value) => assert.fail(`/slow has responded: ${String(value)}`))])
    held.holdSlow = undefined
    await save(() => edit('src/slow.ts', 'value: 1', 'value: 2'))
    await save(() => edit('waypost.yml', '/count:', '/counted:')) // builds a new generation
    assert.equal((await ask('/counted')).status, 200)
    end.resolve()
    assert.equal(await slow, 1)
    assert.equal(await valueOf('/slow'), 2)
    await save(() => write('waypost.yml', files['waypost.yml']))
    takeReports()
  })

  test('saves of a linked package, also new files of it, and installed packages are visible in the next request', async () => {
    await save(() =>
      write(
        'src/count.ts',
        `import { linked } from 'linked'\nexport default class Count { handle() { return { value: linked } } }\n`,
      ),
    )
    assert.equal(await valueOf('/count'), 0)
    await waitForReports() // some systems report the save twice
    takeReports()
    await save(() => write(`${folder.linked}/src/value.ts`, 'export const linked = 1\n'))
    assert.deepEqual([await valueOf('/count'), takeReports()], [1, [`reloaded ${folder.linked}/src/value.ts`]])
    await save(() => write(`${folder.linked}/src/value.ts`, "export { linked } from './more.ts'\n"))
    assert.deepEqual(takeReports(), [`reloadFailed ${folder.linked}/src/value.ts WP_BUILD_IMPORT_MISSING`])
    await save(async () => {
      await write(`${folder.linked}/src/more.ts`, 'export const linked = 2\n')
      await write(`${folder.linked}/src/value.ts`, "export { linked } from './more.ts'; //\n")
    })
    assert.equal(await valueOf('/count'), 2)
    await save(() => writeFile(path.join(folder.root, folder.linked, 'src/more.ts'), 'export const linked = 3\n'))
    await shows('/count', 3)
    await waitForReports()
    takeReports()
    await rm(path.join(folder.root, 'node_modules/linked'))
    await mkdir(path.join(folder.root, 'node_modules/linked'))
    await write('node_modules/linked/package.json', '{ "name": "linked", "type": "module", "exports": "./index.js" }')
    await write('node_modules/linked/index.js', 'export const linked = 4\n')
    await save(() => write('node_modules/.package-lock.json', '{}'))
    assert.equal(await valueOf('/count'), 4)
    await save(() => write('src/count.ts', files['src/count.ts']))
    takeReports()
  })

  test('what the old version of an action left open is closed after its last request, or named', async () => {
    const held = globalThis as { holdSlow?: (() => Promise<void>) | undefined; closedSlow?: string[] }
    const done: string[] = (held.closedSlow = [])
    const head = `import { onClose } from 'waypost'\nonClose(() => globalThis.closedSlow.push('closed'))\nsetInterval(() => globalThis.closedSlow.push('tick'), 3600000)\n`
    const source = `${head}${files['src/slow.ts']}`
    await save(() => write('src/slow.ts', source))
    const [began, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    held.holdSlow = () => {
      began.resolve()
      return end.promise
    }
    const slow = valueOf('/slow')
    await Promise.race([began.promise, slow.then((value) => assert.fail(`/slow has responded: ${String(value)}`))])
    held.holdSlow = undefined
    folder.reports = []
    await save(() => write('src/slow.ts', source.replace('value: 1', 'value: 3')))
    assert.deepEqual([await valueOf('/slow'), done, takeReports()], [3, [], ['reloaded src/slow.ts']])
    end.resolve()
    assert.equal(await slow, 1)
    await until('the old version is closed', () => folder.reports.some(({ what }) => what === 'warned'))
    const warnings = folder.reports.flatMap(({ what, about }) =>
      what === 'warned' ? [about as unknown as string] : [],
    )
    assert.deepEqual(done, ['closed'])
    assert.deepEqual(warnings, [
      'src/slow.ts:3: the previous version left a timer running. It was ended; close it with onClose.',
    ])
    await save(() => write('src/slow.ts', files['src/slow.ts'].replace('value: 1', 'value: 2')))
    takeReports()
  })

  test('a broken save keeps the last valid state, reports the error once, and its correction', async () => {
    await save(() => edit('value.yml', 'response: Value', 'response: Vlue'))
    assert.equal(await valueOf('/value'), 13)
    assert.deepEqual(takeReports(), ['reloadFailed value.yml WP_DEFINITION_SCHEMA_UNKNOWN'])
    await save(() => edit('src/value.ts', '+ 3', '+ 4')) // the code alone is valid
    assert.equal(await valueOf('/value'), 13)
    assert.deepEqual(takeReports(), ['reloadFailed src/value.ts WP_DEFINITION_SCHEMA_UNKNOWN'])
    await save(() => edit('value.yml', 'response: Vlue', 'response: Value'))
    assert.equal(await valueOf('/value'), 14)
    assert.deepEqual(takeReports(), ['reloaded value.yml fixed'])
    await save(() => edit('src/value.ts', 'return {', 'return {{'))
    assert.equal(await valueOf('/value'), 14)
    assert.deepEqual(takeReports(), ['reloadFailed src/value.ts WP_BUILD_SOURCE'])
    await save(() => edit('src/value.ts', 'return {{', 'return {'))
    assert.deepEqual(takeReports(), ['reloaded src/value.ts fixed'])
    await save(() => edit('src/value.ts', 'class Value {', 'class Value {\n  constructor() { throw new Error("no") }'))
    assert.equal(await valueOf('/value'), 14)
    assert.deepEqual(takeReports(), ['reloadFailed src/value.ts'])
    await save(() => edit('src/value.ts', '\n  constructor() { throw new Error("no") }', ''))
    assert.deepEqual(takeReports(), ['reloaded src/value.ts fixed'])
  })

  test('a failure is not reported if files changed during the load', async () => {
    const text = await readFile(path.join(folder.root, 'src/value.ts'), 'utf8')
    const held = globalThis as { duringLoad?: () => void }
    held.duringLoad = () => {
      writeFileSync(path.join(folder.root, 'src/value.ts'), text)
      throw new Error('This file has changed')
    }
    await save(() =>
      edit('src/value.ts', 'class Value {', 'class Value {\n  constructor() { globalThis.duringLoad() }'),
    )
    await waitForReports()
    assert.deepEqual(
      takeReports().filter((report) => !/^reloaded( src\/(value|unused)\.ts)+$/.test(report)),
      [],
    )
  })

  test('a waypost.yml that is empty for a moment during a save takes nothing out of service', async () => {
    const before = await valueOf('/value')
    await save(() => write('waypost.yml', ''))
    assert.equal(await valueOf('/value'), before)
    assert.deepEqual(takeReports(), ['reloadFailed waypost.yml WP_DEFINITION_EMPTY'])
    await save(() => write('waypost.yml', files['waypost.yml']))
    assert.equal(await valueOf('/value'), before)
    assert.deepEqual(takeReports(), ['reloaded waypost.yml fixed'])
  })

  test('files that come and go are followed, in the three ways that editors save', async () => {
    await save(() => rm(path.join(folder.root, 'src/base.ts')))
    assert.equal(await valueOf('/value'), 14)
    assert.deepEqual(takeReports(), ['reloadFailed src/base.ts WP_BUILD_IMPORT_MISSING'])
    await save(() => write('src/base.ts', 'export const base = 20\n'))
    assert.equal(await valueOf('/value'), 24)
    assert.deepEqual(takeReports(), ['reloaded src/base.ts fixed'])
    await save(() => writeFile(path.join(folder.root, 'src/base.ts'), 'export const base = 25\n'))
    await shows('/value', 29)
    await waitForReports()
    takeReports()
    await save(async () => {
      await writeFile(path.join(folder.root, 'src/base.ts~'), 'export const base = 30\n')
      await rename(path.join(folder.root, 'src/base.ts~'), path.join(folder.root, 'src/base.ts'))
    })
    assert.equal(await valueOf('/value'), 34)
    assert.deepEqual(takeReports(), ['reloaded src/base.ts'])
    await save(async () => {
      await write('src/new.ts', 'export default class New {\n  handle() {\n    return { value: 7 }\n  }\n}\n')
      await edit(
        'waypost.yml',
        '  /count:',
        '  /new: { methods: { GET: { public: true, response: Value, action: src/new.ts } } }\n  /count:',
      )
    })
    await shows('/new', 7)
    await waitForReports()
    takeReports()
    await save(() => rm(path.join(folder.root, 'src/new.ts')))
    assert.equal(await valueOf('/new'), 7)
    assert.deepEqual(takeReports(), ['reloadFailed src/new.ts WP_BUILD_ACTION_MISSING'])
    await save(() => rename(path.join(folder.root, 'src'), path.join(folder.root, 'source')))
    takeReports()
    await save(() => rename(path.join(folder.root, 'source'), path.join(folder.root, 'src')))
    await save(() => write('waypost.yml', files['waypost.yml']))
    await until('the route is removed', async () => (await ask('/new')).status === 404)
    await shows('/value', 34)
    await waitForReports()
    assert.match(takeReports().join('\n'), /fixed/)
    takeReports()
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
      [(await ask('/slow')).status, takeReports().at(-1)],
      [200, 'reloadFailed src/value.ts WP_PLUGIN_MISSING'],
    )
    await save(() => write('waypost.yml', files['waypost.yml']))
    assert.equal(await valueOf('/value'), 43)
    takeReports()
  })

  test('an action may be a link, and a file that was missing for a moment is found again', async () => {
    const [action, target] = [path.join(folder.root, 'src/value.ts'), path.join(folder.root, 'src/real.ts')]
    await rename(action, target)
    await symlink('real.ts', action)
    await waitForReports()
    assert.equal(await valueOf('/value'), 43)
    await edit('src/real.ts', '+ 3', '+ 4')
    await shows('/value', 44)
    const text = await readFile(target, 'utf8')
    await rm(action)
    await symlink('nothing.ts', action)
    await until('a link to nothing is reported', () =>
      takeReports().some((report) => report.startsWith('reloadFailed')),
    )
    await rm(action)
    await write('src/value.ts', text.replace('+ 4', '+ 5'))
    await shows('/value', 45)
    await edit('src/value.ts', '+ 5', '+ 4')
    await shows('/value', 44)
    await waitForReports()
    assert.match(takeReports().at(-1)!, /^reloaded/)
  })

  test('two actions with the same text can be swapped', async () => {
    for (const name of ['x', 'y']) await write(`src/${name}.ts`, "export { default } from './value.ts'\n")
    const route = (file: string) =>
      `  /same: { methods: { GET: { public: true, response: Value, action: ${file} } } }\n`
    await write('waypost.yml', files['waypost.yml'] + route('src/x.ts'))
    await shows('/same', 44)
    await waitForReports()
    await save(() => write('waypost.yml', files['waypost.yml'] + route('src/y.ts')))
    assert.equal(await valueOf('/same'), 44)
    assert.doesNotMatch(takeReports().join('\n'), /reloadFailed/)
    await save(() => write('waypost.yml', files['waypost.yml']))
    takeReports()
  })

  test('types are written only when they change', async () => {
    const types = path.join(folder.root, '.waypost/types.d.ts')
    const changedAt = async () => (await stat(types)).mtimeMs
    const before = await changedAt()
    await save(() => edit('src/value.ts', '+ 4', '+ 5'))
    await save(() => edit('value.yml', 'public: true', 'public: true, timeout: 5s'))
    assert.equal(await valueOf('/value'), 45)
    assert.equal(await changedAt(), before)
    await save(() => edit('value.yml', 'public: true', 'public: true, parameters: { page: { type: integer } }'))
    takeReports()
    assert.ok((await changedAt()) > before)
    assert.match(await readFile(types, 'utf8'), /page\?: number/)
  })

  test('files that do not belong to a project are not reported', async () => {
    await writeFile(path.join(folder.root, 'notes.md'), 'a')
    await writeFile(path.join(folder.root, 'src/.value.ts.swp'), 'a')
    await symlink('nobody@host.1', path.join(folder.root, 'src/.#value.ts'))
    await write('test/value.test.ts', 'a')
    await waitForReports()
    await folder.server.reload()
    assert.deepEqual(takeReports(), ['reloaded src/unused.ts', 'reloaded']) // a requested reload is always reported
  })
})
