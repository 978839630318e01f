import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isLong } from '../support/forms.ts'
import { fc, runs } from '../support/property.ts'
import { parse, stringify } from 'yaml'
import { EditRefused, findValue, openEditing, setInDefinition, type Writable } from '../../src/definition/index.ts'
import { makeProject } from './project.ts'
import { edit } from './edit.ts'

const texts = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.constantFrom(
    '',
    '~',
    'null',
    '404',
    '1e3',
    '#',
    'a: b',
    'a, b',
    '- x',
    '{',
    '*a',
    '&a',
    '!x',
    '"',
    "it's",
    'x\ny',
    ' x',
    '/a/:b',
  ),
)
const keys = texts.filter((key) => !key.includes('${env.'))
const { value } = fc.letrec<{ value: Writable }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    texts,
    fc.integer({ min: -1000, max: 1000 }),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(keys, tie('value'), { maxKeys: 4, noNullPrototype: true }),
  ) as fc.Arbitrary<Writable>,
}))
const styles = fc.record({
  indent: fc.constantFrom(1, 2, 3, 4),
  collectionStyle: fc.constantFrom('any' as const, 'block' as const, 'flow' as const),
  lineWidth: fc.constantFrom(0, 30),
  flowCollectionPadding: fc.boolean(),
})

test('any map, however it is written, keeps its entries and gains one', () => {
  const maps = fc.dictionary(keys, value, { maxKeys: 5, noNullPrototype: true })
  fc.assert(
    fc.property(maps, value, fc.record({ style: styles, isJson: fc.boolean() }), (schema, added, { style, isJson }) => {
      const content = isJson ? JSON.stringify(schema, undefined, style.indent) : stringify(schema, style)
      const file = isJson ? 's.json' : 's.yml'
      using project = makeProject({ 'waypost.yml': `schema: !include ${file}\n`, [file]: content })
      const edited = setInDefinition(openEditing(project.root), ['schema', 'New-Key'], added).get(file)
      assert.ok(edited !== undefined, content)
      const after: unknown = isJson ? JSON.parse(edited) : parse(edited)
      assert.deepEqual(after, { ...schema, 'New-Key': added })
    }),
    { numRuns: runs(300) },
  )
})

test('hostile files are edited or refused, and nothing else changes', () => {
  const deep = `${'['.repeat(90)}1${']'.repeat(90)}`
  const texts: readonly [name: string, text: string, expected: unknown][] = [
    ['empty', '', { x: 1 }],
    ['comments only', '# a\r\n# b', { x: 1 }],
    ['a document marker', '---\n# a\n', { x: 1 }],
    ['a directive', '%YAML 1.2\n---\na: 1\n...\n', { a: 1, x: 1 }],
    ['two documents', 'a: 1\n---\nb: 1\n', undefined],
    ['a tab as indentation', 'a:\n\tb: 1\n', undefined],
    ['tabs between and behind values', 'a:\t1\t# c\nb:\t{\tc:\t1\t}\t\n', { a: 1, b: { c: 1 }, x: 1 }],
    ['a list', '- 1\n', undefined],
    ['deep lists', `a: ${deep}\n`, { a: JSON.parse(deep), x: 1 }],
    ['too deep lists', `a: ${'['.repeat(50_000)}`, undefined],
    ['an own __proto__', '__proto__: { a: 1 }\n', JSON.parse('{"__proto__":{"a":1},"x":1}')],
    ['a text of one megabyte', `a: "${'x'.repeat(1_000_000)}"\n`, { a: 'x'.repeat(1_000_000), x: 1 }],
    [
      'many lines',
      Array.from({ length: isLong ? 20_000 : 4000 }, (_, index) => `k${index}: ${index}\n`).join(''),
      undefined,
    ],
  ]
  for (const [name, text, expected] of texts) {
    using project = makeProject({ 'waypost.yml': text })
    const editing = openEditing(project.root)
    let changed: string | undefined
    try {
      changed = edit(editing, ['x'], 1).get('waypost.yml')
    } catch (error) {
      assert.ok(error instanceof EditRefused, name)
      assert.equal(expected, undefined, `${name}: ${error.message}`)
      continue
    }
    if (name !== 'many lines') assert.deepEqual(parse(changed!), expected, name)
    assert.equal(changed!.replace(/x: 1\r?\n?/, '').trimEnd(), text.trimEnd(), name)
    const removed = edit(openEditing(project.root, { texts: new Map([['waypost.yml', changed!]]) }), ['x'], undefined)
    // Searching for repeated keys takes time in the square of their number.
    const read = (yaml: string) => parse(yaml, { uniqueKeys: false }) ?? {}
    assert.deepEqual(read(removed.get('waypost.yml')!), read(text), name)
  }
})

test('any key is set, renamed by its value, and removed again', () => {
  for (const key of [
    'a.b',
    'a/b~c',
    '"',
    "it's",
    'a\nb',
    '🛒',
    '__proto__',
    'constructor',
    '<<',
    '',
    '- x',
    '#',
    'null',
    '*a',
    ' a ',
  ]) {
    for (const text of ['a: 1 # c\n', '{ a: 1 }\n']) {
      using project = makeProject({ 'waypost.yml': text })
      const set = edit(openEditing(project.root), [key], { [key]: 1 })
      const opened = openEditing(project.root, { texts: set })
      assert.deepEqual(findValue(opened, [key, key]), 1)
      assert.equal(edit(opened, [key], undefined).get('waypost.yml'), text)
    }
  }
})
