import assert from 'node:assert/strict'
import { chmod, mkdtempDisposable, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { parseEnv } from 'node:util'
import { writeFiles } from '../../../src/project/generate/write-files.ts'
import { bodyOf, openDraft, type DraftWorld } from '../../support/draft-world.ts'
import { until } from '../../support/until.ts'

const files = {
  'waypost.yml': `scope:
  todo: { description: may edit }
routes:
  /todo: !include resources/routes/todo.yml
`,
  'resources/routes/todo.yml': 'scopes: [todo]\nmethods:\n  GET: { action: src/todo/collection.ts }\n',
  'src/todo/collection.ts': 'export default class Todo {\n  handle() {\n    return { id: 1 }\n  }\n}\n',
  'src/todo/unused.ts': 'export default class Unused {\n  handle() {}\n}\n',
  'src/helper.ts': 'export const one = 1\n',
}

describe('what the draft of a folder generates', () => {
  let world: DraftWorld
  before(async () => {
    world = await openDraft(files)
  })
  after(() => world[Symbol.asyncDispose]())

  test('a route: a preview writes nothing; then it is written with its class and served', async () => {
    const body = { method: 'POST', path: '/order', scopes: ['todo'] }
    const shown = bodyOf(await world.call('POST /draft/route', { ...body, preview: true }))
    assert.deepEqual([shown.route, shown.action, shown.saved], ['POST /order', 'src/order/insert.ts', null])
    assert.ok(
      shown.files.some(
        ({ file, before: old }: { file: string; before: unknown }) => file === 'src/order/insert.ts' && old === null,
      ),
    )
    await assert.rejects(world.read('src/order/insert.ts'))
    const made = bodyOf(await world.call('POST /draft/route', body))
    assert.deepEqual(made.files, shown.files)
    assert.equal(made.saved.is_served, true)
    assert.equal((await fetch(`${world.dev.started.url}/order`, { method: 'POST' })).status, 401)
    const again = await world.call('POST /draft/route', body)
    assert.deepEqual([again.status, again.body.errors[0].path], [422, 'body/path'])
    const open = await world.call('POST /draft/route', { method: 'GET', path: '/open' })
    assert.deepEqual([open.status, open.body.errors[0].path], [422, 'body/scopes'])
    const picture = { ...body, path: '/picture', request: ['image/png'], response: ['text/csv'], preview: true }
    const { files: pictured } = bodyOf(await world.call('POST /draft/route', picture))
    assert.match(JSON.stringify(pictured), /request: { content: \[image\/png\] }/)
    const undone = bodyOf(await world.call('PATCH /draft', { ...made.saved.inverse, with_errors: true }))
    assert.equal(await world.read('waypost.yml'), files['waypost.yml'])
    assert.equal(undone.is_served, true)
  })

  test('the class of an action, only in a new file of code of the project', async () => {
    const at = '/routes/~1todo/methods/POST'
    bodyOf(
      await world.call('PATCH /draft', { edits: [{ at, value: { action: 'src/todo/insert.ts' } }], with_errors: true }),
    )
    const made = bodyOf(await world.call('POST /draft/action', { file: 'src/todo/insert.ts' }))
    assert.deepEqual([made.use, made.saved.is_served], ['POST /todo', true])
    assert.equal(await world.read('src/todo/insert.ts'), made.text)
    for (const file of [
      'src/todo/insert.ts',
      '../x.ts',
      '/tmp/x.ts',
      'src/x.yml',
      'src/.x/a.ts',
      '.git/x.ts',
      'node_modules/a/x.ts',
      'src/../../x.ts',
      'src/x.d.ts',
    ]) {
      const { status } = await world.call('POST /draft/action', { file, route: 'POST /todo' })
      assert.equal(status, 422, file)
    }
    await symlink(path.join(world.root, 'resources'), path.join(world.root, 'src/linked'))
    assert.equal((await world.call('POST /draft/action', { file: 'src/linked/x.ts', route: 'POST /todo' })).status, 422)
  })

  test('action files are listed with their uses; other code is not', async () => {
    const { entry } = bodyOf(await world.call('GET /draft/action'))
    const listed = Object.fromEntries(entry.map((one: { file: string; used_by: string[] }) => [one.file, one.used_by]))
    assert.deepEqual(listed['src/todo/collection.ts'], ['GET /todo'])
    assert.deepEqual(listed['src/todo/unused.ts'], [])
    assert.ok(!('src/helper.ts' in listed))
  })

  test('classes come with the annotations of their config', async () => {
    const { actions } = bodyOf(await world.call('GET /class'))
    const table = actions.find(({ name }: { name: string }) => name === 'sql-table')
    assert.match(JSON.stringify(table.config), /"x-waypost":"table"/)
  })

  test('with errors in the definition, nothing is generated, and the answer lists them', async () => {
    await world.write('resources/routes/todo.yml', files['resources/routes/todo.yml'].replace('GET:', 'GTE:'))
    const { status, body } = await world.call('POST /draft/route', { method: 'GET', path: '/x', public: true })
    assert.deepEqual([status, body.type], [409, 'urn:waypost:errors#WP_BACKEND_DRAFT_BROKEN'])
    assert.equal(body.diagnostics[0].file, 'resources/routes/todo.yml')
    await world.write('resources/routes/todo.yml', files['resources/routes/todo.yml'])
    await until('it is served again', async () => bodyOf(await world.call('GET /draft')).is_served)
  })

  test('a variable goes to .env, which only its owner can read, and is never answered', async () => {
    const set = (name: string, value: string) => world.call(`PUT /draft/variable/${name}`, { value })
    await writeFile(path.join(world.root, '.env'), '# mine\nexport OTHER="a\nb" # kept\nTOKEN=old\n')
    await chmod(path.join(world.root, '.env'), 0o644)
    for (const value of [
      'new',
      'with space',
      `it's "quoted"`,
      'a\\nb',
      'line\nbreak',
      '#hash',
      '$HOME',
      ' padded ',
      '=',
      '',
    ]) {
      assert.equal((await set('TOKEN', value)).status, 200, value)
      const text = await world.read('.env')
      assert.deepEqual({ ...parseEnv(text) }, { OTHER: 'a\nb', TOKEN: value })
      assert.ok(text.startsWith('# mine\nexport OTHER="a\nb" # kept\n'))
    }
    assert.equal((await stat(path.join(world.root, '.env'))).mode & 0o777, 0o600)
    assert.equal((await set('SECOND', 's3cret-value')).status, 200)
    for (const [name, value] of [
      ['NODE_OPTIONS', '--require=x'],
      ['WAYPOST_SECRET', 'x'],
      ['PATH', '/x'],
      ['A-B', 'x'],
      ['A%0AB', 'x'],
      ['__proto__', 'x'],
      ['TOKEN', `\n'"\``],
    ] as const)
      assert.ok([400, 409, 422].includes((await set(name, value)).status), name)
    for (const target of ['/variable', '/draft', '/draft/file?path=.env', '/draft/value?at=', '/draft/diff'])
      assert.doesNotMatch((await world.call(`GET ${target}`)).text, /s3cret-value/)
    assert.deepEqual(
      (await readdir(world.root)).filter((name) => name.startsWith('.env')),
      ['.env'],
    )
  })
})

test('an editor that saves in place while files are written loses nothing', async () => {
  await using folder = await mkdtempDisposable(path.join(tmpdir(), 'waypost-race-'))
  const root = folder.path
  const file = 'race.yml'
  const place = path.join(root, file)
  await writeFile(place, '')
  const editing = new AbortController()
  const lines: string[] = []
  const editor = async () => {
    for (let index = 0; index < 150; index += 1) {
      const line = `# editor ${index}\n`
      await writeFile(place, (await readFile(place, 'utf8')) + line)
      lines.push(line)
    }
    editing.abort()
  }
  let written = 0
  const pages = async () => {
    while (!editing.signal.aborted) {
      const before = await readFile(place, 'utf8')
      try {
        await writeFiles(root, [{ file, text: `${before}# page ${written}\n`, before }])
        written += 1
      } catch {
        // The file was changed meanwhile, so nothing was written.
      }
    }
  }
  await Promise.all([editor(), pages()])
  const text = await readFile(place, 'utf8')
  for (const line of lines) assert.ok(text.includes(line), line)
})
