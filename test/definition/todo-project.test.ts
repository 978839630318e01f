import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync, renameSync, symlinkSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { loadDefinition, makeSourceCache, type Definition } from '../../src/definition/index.ts'
import { formatDiagnostics } from '../../src/kit/index.ts'
import { fc, runs } from '../support/property.ts'

const todo = path.join(import.meta.dirname, '../fixtures/definition/todo')
const collection = 'resources/routes/todo/collection.yml'
const entity = 'resources/routes/todo/entity.yml'

test('the to-do project has no problem, and its definition is as expected', async () => {
  const loaded = await loadDefinition(todo)
  assert.deepEqual(loaded.diagnostics, [])
  assert.deepEqual(loaded.files, ['waypost.yml', collection, entity, 'resources/schema.yml'])
  assert.deepEqual(loaded.counts, { routes: 2, methods: 5, schemas: 4, events: 1 })
  assert.deepEqual(loaded.definition, expected)
})

test('three mistakes in the to-do project read as promised', async () => {
  const root = copyTodo()
  try {
    edit(root, collection, (text) =>
      text.replace('response: Todo-Collection', 'response: Todo-Colection').replace('insert.ts', 'insrt.ts'),
    )
    edit(root, 'resources/schema.yml', (text) => text.replace('content: { type: string }', 'content: { type: sting }'))
    const { diagnostics, definition } = await loadDefinition(root)
    assert.equal(formatDiagnostics(diagnostics, { colour: false, width: 100 }), threeMistakes.trim())
    assert.equal(definition, undefined)
  } finally {
    rmSync(root, { recursive: true })
  }
})

test('a cache of parsed files does not change diagnostics', async () => {
  const root = copyTodo()
  const cache = makeSourceCache()
  try {
    assert.deepEqual((await loadDefinition(root, { cache })).definition, expected)
    assert.deepEqual((await loadDefinition(root, { cache })).definition, expected)
    edit(root, 'resources/schema.yml', (text) => `${text}  - broken`)
    const broken = await loadDefinition(root, { cache })
    assert.equal(broken.diagnostics.length, 1)
    assert.deepEqual((await loadDefinition(root, { cache })).diagnostics, broken.diagnostics)
    edit(root, 'resources/schema.yml', (text) => text.replace('  - broken', ''))
    assert.deepEqual((await loadDefinition(root, { cache })).definition, expected)
  } finally {
    rmSync(root, { recursive: true })
  }
})

test('a project loads like a new one, whatever was loaded before it', async () => {
  const cache = makeSourceCache()
  const code = new Set(['collection', 'entity', 'delete', 'insert', 'update'].map((name) => `src/todo/${name}.ts`))
  const files = ['waypost.yml', collection, entity, 'resources/schema.yml']
  const texts = new Map(files.map((file) => [file, readFileSync(path.join(todo, file), 'utf8')]))
  const state = fc.array(
    fc.record({
      file: fc.constantFrom(...files),
      line: fc.nat(60),
      change: fc.constantFrom('remove', 'repeat', 'swap', 'variable'),
    }),
    { maxLength: 3 },
  )
  await fc.assert(
    fc.asyncProperty(state, async (edits) => {
      const edited = new Map(texts)
      for (const { file, line, change } of edits) edited.set(file, changeLine(edited.get(file)!, line, change))
      const options = { texts: edited, code }
      assert.deepEqual(await loadDefinition(undefined, { ...options, cache }), await loadDefinition(undefined, options))
    }),
    { numRuns: runs(200) },
  )
})

function changeLine(text: string, index: number, change: string): string {
  const lines = text.split('\n')
  const [line = '', next = ''] = lines.slice(index, index + 2)
  const replacing = {
    remove: [],
    repeat: [line, line],
    swap: [next, line],
    variable: [line.replace(/: (\w+)$/, ': ${env.NAME}')],
  }[change]!
  return lines.toSpliced(index, change === 'swap' ? 2 : 1, ...replacing).join('\n')
}

test('unchanged files are not read again, unless a link leads to them', async () => {
  const root = copyTodo()
  const cache = makeSourceCache()
  const load = (...changed: string[]) => loadDefinition(root, { cache, changed: new Set(changed) })
  const messages = async (...changed: string[]) =>
    (await load(...changed)).diagnostics.map(({ file, message }) => `${file} ${message}`)
  try {
    renameSync(path.join(root, 'resources/schema.yml'), path.join(root, 'resources/real.yml'))
    symlinkSync('real.yml', path.join(root, 'resources/schema.yml'))
    const first = await loadDefinition(root, { cache })
    assert.deepEqual(first.diagnostics, [])
    rmSync(path.join(root, 'src/todo/insert.ts'))
    edit(root, collection, (text) => text.replace('Todo-Collection', 'Nothing'))
    assert.deepEqual((await load()).definition, first.definition) // not reported as changed
    assert.equal((await messages('src/todo/insert.ts')).length, 1)
    assert.equal((await messages('src/todo/insert.ts', collection)).length, 2)
    edit(root, 'resources/real.yml', (text) => `${text}  - broken`)
    assert.match((await messages()).join('\n'), /resources\/schema\.yml/) // a watcher reports another name
  } finally {
    rmSync(root, { recursive: true })
  }
})

function copyTodo(): string {
  const root = mkdtempSync(path.join(os.tmpdir(), 'waypost-todo-'))
  cpSync(todo, root, { recursive: true })
  return root
}

function edit(root: string, file: string, change: (text: string) => string): void {
  const text = readFileSync(path.join(root, file), 'utf8')
  const changed = change(text)
  assert.notEqual(changed, text)
  writeFileSync(path.join(root, file), changed)
}

const threeMistakes = `
resources/routes/todo/collection.yml:8:15  Unknown schema "Todo-Colection"
      response: Todo-Colection
                ^^^^^^^^^^^^^^
  Did you mean "Todo-Collection" (resources/schema.yml:17)?            WP_DEFINITION_SCHEMA_UNKNOWN
  included at waypost.yml:3:10

resources/routes/todo/collection.yml:14:13  File not found: src/todo/insrt.ts
      action: src/todo/insrt.ts
              ^^^^^^^^^^^^^^^^^
  Did you mean src/todo/insert.ts? To create a new file: waypost generate:action src/todo/insrt.ts
                                                                       WP_BUILD_ACTION_MISSING
  included at waypost.yml:3:10

resources/schema.yml:8:22  "sting" is not a JSON Schema type
      content: { type: sting }
                       ^^^^^
  Did you mean "string"?                                               WP_DEFINITION_SCHEMA_INVALID
  included at waypost.yml:5:9
`

const params = { type: 'object', properties: { todo_id: { type: 'integer' } }, required: ['todo_id'] }
const ref = (name: string) => ({ $ref: `schema:///${name}` })
const at = (file: string, line: number, column: number) => ({ file, line, column })

const expected: Definition = {
  routes: [
    {
      path: '/todo',
      methods: [
        {
          method: 'GET',
          public: true,
          description: 'Lists the open to-dos, newest first',
          scopes: [],
          query: { type: 'object', properties: { startIndex: { type: 'integer', minimum: 0, default: 0 } } },
          responses: { '200': ref('Todo-Collection') },
          action: { file: 'src/todo/collection.ts', at: at(collection, 9, 13) },
          at: at(collection, 3, 3),
        },
        {
          method: 'POST',
          public: false,
          description: 'Creates a to-do',
          scopes: ['todo'],
          request: ref('Todo-Input'),
          responses: { '201': ref('Message') },
          action: { file: 'src/todo/insert.ts', at: at(collection, 14, 13) },
          at: at(collection, 10, 3),
        },
      ],
      at: at('waypost.yml', 3, 3),
    },
    {
      path: '/todo/:todo_id',
      methods: [
        {
          method: 'GET',
          public: true,
          description: 'Shows one to-do',
          scopes: [],
          params,
          responses: { '200': ref('Todo') },
          action: { file: 'src/todo/entity.ts', at: at(entity, 9, 13) },
          at: at(entity, 5, 3),
        },
        {
          method: 'PUT',
          public: false,
          description: 'Changes a to-do',
          scopes: ['todo'],
          params,
          request: ref('Todo-Input'),
          responses: { '200': ref('Message') },
          action: { file: 'src/todo/update.ts', at: at(entity, 14, 13) },
          at: at(entity, 10, 3),
        },
        {
          method: 'DELETE',
          public: false,
          description: 'Removes a to-do',
          scopes: ['todo'],
          params,
          responses: { '200': ref('Message') },
          action: { file: 'src/todo/delete.ts', at: at(entity, 18, 13) },
          at: at(entity, 15, 3),
        },
      ],
      at: at('waypost.yml', 4, 3),
    },
  ],
  schemas: {
    Todo: {
      type: 'object',
      required: ['id', 'status', 'title', 'content', 'insert_date'],
      properties: {
        id: { type: 'integer' },
        status: { type: 'integer', description: '1 is open' },
        title: { type: 'string' },
        content: { type: 'string' },
        insert_date: { type: 'string', format: 'date-time' },
      },
    },
    'Todo-Input': {
      type: 'object',
      required: ['title', 'content'],
      additionalProperties: false,
      properties: { title: { type: 'string', minLength: 1, maxLength: 64 }, content: { type: 'string' } },
    },
    'Todo-Collection': {
      type: 'object',
      required: ['totalResults', 'startIndex', 'itemsPerPage', 'entry'],
      properties: {
        totalResults: { type: 'integer' },
        startIndex: { type: 'integer' },
        itemsPerPage: { type: 'integer' },
        entry: { type: 'array', items: ref('Todo') },
      },
    },
    Message: {
      type: 'object',
      required: ['success', 'message'],
      properties: { success: { type: 'boolean' }, message: { type: 'string' }, id: { type: 'integer' } },
    },
  },
  connections: {},
  events: { todo_created: { description: 'A to-do was created', schema: ref('Todo') } },
  scopes: { todo: {} },
  listeners: {},
  cronjobs: {},
  rates: {},
  config: {},
  plugins: [],
  variables: {},
}
