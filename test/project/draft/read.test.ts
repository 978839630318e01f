import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { bodyOf, openDraft, type DraftWorld } from '../../support/draft-world.ts'
import { until } from '../../support/until.ts'

const files = {
  'waypost.yml': `# the API
schema:
  Todo: { type: object, properties: { id: { type: integer } } } # a task
scope:
  todo: { description: may edit }
routes:
  /todo: !include resources/routes/todo.yml
  /plain:
    methods:
      GET: { public: true, response: Todo, action: src/todo.ts }
`,
  'resources/routes/todo.yml': `# collection
scopes: [todo]
methods:
  GET:
    response: Todo
    action: src/todo.ts
`,
  'src/todo.ts': 'export default class Todo {\n  handle() {\n    return { id: 1 }\n  }\n}\n',
  'package.json': '{ "name": "todo" }',
  '.env': 'SECRET=1\n',
}

describe('reading the draft of a folder', () => {
  let world: DraftWorld
  before(async () => {
    world = await openDraft(files)
  })
  after(() => world[Symbol.asyncDispose]())
  const valueAt = (at: string) => world.call(`GET /draft/value?at=${encodeURIComponent(at)}`)

  test('a value is what is written, through includes, with its place and exact text', async () => {
    const route = bodyOf(await valueAt('/routes/~1todo'))
    assert.deepEqual(route.value, { scopes: ['todo'], methods: { GET: { response: 'Todo', action: 'src/todo.ts' } } })
    assert.deepEqual(
      [route.source, route.file, route.yaml],
      ['waypost.yml:7', 'resources/routes/todo.yml', files['resources/routes/todo.yml']],
    )
    const method = bodyOf(await valueAt('/routes/~1todo/methods/GET'))
    assert.deepEqual(
      [method.source, method.yaml],
      ['resources/routes/todo.yml:4', '  GET:\n    response: Todo\n    action: src/todo.ts'],
    )
    const { yaml, start, end, file } = bodyOf(await valueAt('/schema/Todo'))
    assert.match(yaml, /^ {2}Todo: .* # a task$/)
    assert.equal((await world.read(file)).slice(start, end), yaml)
    const inner = bodyOf(await valueAt('/routes/~1plain/methods/GET/action'))
    assert.equal(inner.yaml, 'action: src/todo.ts')
    assert.equal(bodyOf(await valueAt('')).yaml, files['waypost.yml'])
  })

  test('all definition files can be read at once, never code or .env; before a deployment nothing is active', async () => {
    const { entry } = bodyOf(await world.call('GET /draft/files?of=draft'))
    const names = ['resources/routes/todo.yml', 'waypost.yml'] as const
    assert.deepEqual(entry.map(({ file }: { file: string }) => file).toSorted(), names)
    for (const { file, text } of entry) assert.equal(text, files[file as (typeof names)[number]])
    assert.equal((await world.call('GET /draft/files?of=other')).status, 400)
  })

  test('an absent value has no ETag and no place', async () => {
    const { status, headers, body } = await valueAt('/routes/~1none')
    assert.deepEqual([status, headers.etag], [200, undefined])
    assert.deepEqual(body, { at: '/routes/~1none', source: null, file: null, yaml: null, start: null, end: null })
  })

  test('the ETag depends on the value only: not on its order, its layout or other values', async () => {
    const { headers } = await valueAt('/routes/~1todo')
    const other = (await valueAt('/schema/Todo')).headers.etag
    assert.notEqual(headers.etag, other)
    await world.write(
      'resources/routes/todo.yml',
      'methods: { GET: { action: src/todo.ts, response: Todo } }\nscopes: [todo]\n',
    )
    assert.equal((await valueAt('/routes/~1todo')).headers.etag, headers.etag)
    await world.write('resources/routes/todo.yml', files['resources/routes/todo.yml'])
  })

  test('files of the definition can be read, other files cannot', async () => {
    const { text, at } = bodyOf(await world.call('GET /draft/file?path=resources/routes/todo.yml'))
    assert.deepEqual(at, ['/routes/~1todo'])
    assert.equal(text, files['resources/routes/todo.yml'])
    for (const path of [
      '.env',
      'package.json',
      'src/todo.ts',
      'tsconfig.json',
      './waypost.yml',
      'resources/../.env',
      'resources%2F..%2F.env',
      'resources%2f%2e%2e%2fpackage.json',
      '/etc/passwd',
      'waypost.yml%00',
      'WAYPOST.YML',
      '.waypost/system.db',
      'node_modules/waypost/package.json',
    ]) {
      const { status, text: answer } = await world.call(`GET /draft/file?path=${path}`)
      assert.ok(status === 404 || status === 400, `${path}: ${status} ${answer}`)
    }
  })

  test('changes are those since the start without Git, and since the last commit with it', async () => {
    const start = bodyOf(await world.call('GET /draft'))
    assert.deepEqual(start.diagnostics, [])
    assert.deepEqual([start.base.kind, start.changes, start.is_served, start.name], ['start', [], true, 'todo'])
    await world.write('resources/more.yml', 'a: 1\n')
    const [added] = bodyOf(await world.call('GET /draft')).changes
    assert.deepEqual(added, { file: 'resources/more.yml', status: 'added', additions: 1, deletions: 0 })
  })

  test('a broken file: the problem with its pointer, and that it is not served', async () => {
    await world.write('resources/routes/todo.yml', files['resources/routes/todo.yml'].replace('Todo', 'Nope'))
    await until('the error is known', async () => !bodyOf(await world.call('GET /draft')).is_served)
    const problem = bodyOf(await world.call('GET /draft')).diagnostics.find(
      (one: { severity: string }) => one.severity === 'error',
    )
    assert.deepEqual(
      [problem.file, problem.line, problem.at],
      ['resources/routes/todo.yml', 5, '/routes/~1todo/methods/GET/response'],
    )
    await world.write('resources/routes/todo.yml', 'methods: [')
    await until('the other error is known', async () => {
      const { diagnostics } = bodyOf(await world.call('GET /draft'))
      return diagnostics.some(
        (one: { at: string; severity: string }) => one.severity === 'error' && one.at === '/routes/~1todo',
      )
    })
    await world.write('resources/routes/todo.yml', files['resources/routes/todo.yml'])
    await until('it is served again', async () => bodyOf(await world.call('GET /draft')).is_served)
  })
})

test('with Git, changes are those since the last commit', async () => {
  await using world = await openDraft({ ...files, 'test/fixture.json': '{}', '.gitignore': '.waypost\nnode_modules\n' })
  world.git('init', '-q')
  world.git('add', '.')
  world.git('commit', '-qm', 'first')
  await world.write('waypost.yml', files['waypost.yml'].replace('may edit', 'may\tedit').replace('# the API\n', ''))
  const { base, entry } = bodyOf(await world.call('GET /draft/diff'))
  assert.deepEqual(base, { kind: 'git', name: world.git('rev-parse', 'HEAD').trim() })
  const [{ additions, deletions, ...only }, ...others] = entry
  assert.deepEqual(others, [])
  assert.equal(`${additions}\t${deletions}\twaypost.yml\n`, world.git('diff', '--numstat'))
  assert.deepEqual(only, {
    file: 'waypost.yml',
    status: 'changed',
    before: files['waypost.yml'],
    after: await world.read('waypost.yml'),
  })
})
