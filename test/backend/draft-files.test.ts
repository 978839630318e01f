// What the pages of the backend do with the files of a draft: read those of a folder, pack them, and show values.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { crc32 } from 'node:zlib'
import { parse } from 'yaml'
import { makeZip } from '../../src/backend/ui/publish/make-zip.ts'
import { readFolder } from '../../src/backend/ui/publish/read-folder.ts'
import { toYaml } from '../../src/backend/ui/publish/to-yaml.ts'

/** Files as `<input webkitdirectory>` gives them. */
function chooseFolder(texts: Readonly<Record<string, string>>): Parameters<typeof readFolder>[0] {
  return Object.entries(texts).map(([path, text]) =>
    Object.assign(new File([text], path.split('/').at(-1)!), { webkitRelativePath: path }),
  )
}

describe('importing a folder', () => {
  test('reads waypost.yml, what it includes, resources and migrations, and nothing else', async () => {
    const found = await readFolder(
      chooseFolder({
        'shop/package.json': '{}',
        'shop/tsconfig.json': '{}',
        'shop/.env': 'SECRET=1',
        'shop/.waypost/dev.json': '{}',
        'shop/src/todo.ts': 'export {}',
        'shop/notes.yml': 'not: included',
        'shop/node_modules/waypost/waypost.yml': 'routes: {}',
        'shop/waypost.yml': 'schema: !include parts/schemas.yml\nroutes: { /todo: !include "resources/todo.yml" }\n',
        'shop/parts/schemas.yml': 'Todo: !include ./todo.json # one\n',
        'shop/parts/todo.json': '{ "type": "object" }',
        'shop/resources/todo.yml': 'methods: {}',
        'shop/resources/unused.yml': 'a: 1',
        'shop/migrations/System/1-todo.yml': '- create_table: {}',
        'shop/migrations/System/2-code.ts': 'export {}',
        'shop/migrations/System/tables.json': '{}',
      }),
    )
    assert.deepEqual([...found.texts.keys()].toSorted(), [
      'migrations/System/1-todo.yml',
      'migrations/System/tables.json',
      'parts/schemas.yml',
      'parts/todo.json',
      'resources/todo.yml',
      'resources/unused.yml',
      'waypost.yml',
    ])
    assert.equal(found.texts.get('resources/todo.yml'), 'methods: {}')
    assert.equal(found.skipped, 8)
  })

  test('the project may be in a folder of the chosen one; without a waypost.yml there is nothing to read', async () => {
    const nested = await readFolder(chooseFolder({ 'all/README.md': '', 'all/api/waypost.yml': 'routes: {}' }))
    assert.deepEqual([...nested.texts.keys()], ['waypost.yml'])
    assert.equal((await readFolder(chooseFolder({ 'all/README.md': '' }))).texts.size, 0)
  })

  test('a file that is too large is named', async () => {
    const found = await readFolder(chooseFolder({ 'a/waypost.yml': `# ${'x'.repeat(1024 * 1024)}` }))
    assert.deepEqual([found.texts.size, found.tooLarge], [0, ['waypost.yml']])
  })
})

test('a zip file has all files with their checksums', () => {
  const files = [
    ['waypost.yml', 'routes: {}\n'],
    ['resources/größe.yml', 'größe: 1\n'],
    ['empty.json', ''],
  ] as const
  const zip = Buffer.from(makeZip(files))
  const end = zip.subarray(-22)
  assert.equal(end.readUInt32LE(0), 0x06054b50)
  assert.equal(end.readUInt16LE(10), files.length)
  let at = end.readUInt32LE(16)
  assert.equal(at + end.readUInt32LE(12), zip.length - 22)
  for (const [name, text] of files) {
    const bytes = Buffer.from(text)
    assert.equal(zip.readUInt32LE(at), 0x02014b50)
    assert.equal(zip.readUInt16LE(at + 8), 0x0800, 'names are UTF-8')
    assert.equal(zip.readUInt32LE(at + 16), crc32(bytes))
    const length = zip.readUInt16LE(at + 28)
    assert.equal(zip.toString('utf8', at + 46, at + 46 + length), name)
    const local = zip.readUInt32LE(at + 42)
    assert.equal(zip.readUInt32LE(local), 0x04034b50)
    assert.equal(zip.readUInt32LE(local + 14), crc32(bytes))
    assert.equal(zip.readUInt32LE(local + 22), bytes.length)
    const start = local + 30 + zip.readUInt16LE(local + 26)
    assert.deepEqual(zip.subarray(start, start + bytes.length), bytes)
    at += 46 + length
  }
})

describe('values as YAML', () => {
  const values = {
    'a method': { public: true, action: 'Todo', response: { $ref: 'schema:///Todo' }, timeout: '5s' },
    'lists of maps': { events: [{ name: 'a', scopes: ['x', 'y'] }, { name: 'b' }], empty: [], none: {} },
    'texts that look like something else': {
      a: 'true',
      b: '1',
      c: 'null',
      d: ' x ',
      e: '- x',
      f: 'a: b',
      g: '#h',
      h: '',
    },
    sentences: {
      a: "It's new, and 50% cheaper (see #4)",
      b: 'a # comment',
      c: 'ends with a colon:',
      d: 'Größe: groß',
      e: 'tab\tstop',
      f: 'Über {alles} [oder] nichts',
      g: ['a, b', "it's", 'x: y'],
    },
    'several lines': { description: 'One\n  Two\n\nThree\n', other: 'One\nTwo' },
    'a long list': { names: Array.from({ length: 20 }, (_, index) => `column_${index}`) },
    'keys that need quotes': { '/todo/:id': { '200': 'Todo', 'a b': 1 } },
  }
  for (const [name, value] of Object.entries(values))
    test(`${name} are read as the same value`, () => assert.deepEqual(parse(toYaml(value)), value))
  test('sentences have no quotes', () => {
    assert.equal(toYaml({ a: "It's new, and 50% cheaper" }), "a: It's new, and 50% cheaper")
  })
})
