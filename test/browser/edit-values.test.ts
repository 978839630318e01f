import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { findPlace, schemasAt } from '../../src/backend/ui/edit/complete-yaml.ts'
import { describeEdits, isOneOf } from '../../src/backend/ui/edit/describe-save.ts'
import { limitChoices } from '../../src/backend/ui/edit/limit-choices.ts'
import {
  isEqual,
  keysOf,
  listChanges,
  mergeValues,
  pointerOf,
  valueAt,
  withValueAt,
} from '../../src/backend/ui/edit/values.ts'
import { makeEditorSchema } from '../../src/definition/index.ts'

test('a long list of choices ends with how many are left, which is not the choice of nothing', () => {
  const choices = ['', ...Array.from({ length: 149 }, (_, index) => `t${index}`)].map((value) => ({
    value,
    label: value,
  }))
  const shown = limitChoices(choices, (count) => `${count} more`)
  const last = shown.at(-1)!
  assert.deepEqual([shown.length, last.label, 'disabled' in last && last.disabled], [101, '50 more', true])
  assert.equal(new Set(shown.map(({ value }) => value)).size, 101)
  assert.deepEqual(limitChoices(choices.slice(0, 100), String), choices.slice(0, 100))
})

describe('values of an edit', () => {
  test('pointers escape their keys', () => {
    const keys = ['routes', '/todo/:id', 'a~b', '']
    assert.equal(pointerOf(...keys), '/routes/~1todo~1:id/a~0b/')
    assert.deepEqual(keysOf(pointerOf(...keys)), keys)
    assert.deepEqual(keysOf(''), [])
  })

  test('are changed without changing the stored ones', () => {
    const stored = { a: { b: [1, 2, 3] } }
    assert.deepEqual(withValueAt(stored, ['a', 'b', '1'], 9), { a: { b: [1, 9, 3] } })
    assert.deepEqual(withValueAt(stored, ['a', 'b', '1'], undefined), { a: { b: [1, 3] } })
    assert.deepEqual(withValueAt(stored, ['a', 'c', 'd'], true), { a: { b: [1, 2, 3], c: { d: true } } })
    assert.deepEqual(withValueAt(stored, ['a', 'b'], undefined), { a: {} })
    assert.deepEqual(withValueAt(null, ['description'], 'x'), { description: 'x' })
    assert.deepEqual(stored, { a: { b: [1, 2, 3] } })
    assert.equal(valueAt(stored, ['a', 'b', '2']), 3)
    assert.equal(valueAt(stored, ['a', 'constructor']), undefined)
  })

  test('are compared without the order of keys, and changes are listed by pointer', () => {
    assert.ok(isEqual({ a: 1, b: [{}] }, { b: [{}], a: 1 }))
    assert.ok(!isEqual({ a: undefined }, {}))
    assert.ok(!isEqual([], {}))
    assert.deepEqual(listChanges({ a: 1, b: { c: [1] } }, { a: 1, b: { c: [2], d: 0 } }, '/x'), ['/x/b/c', '/x/b/d'])
    assert.deepEqual(listChanges(undefined, { a: 1 }, '/x'), ['/x'])
    const fields = (...names: string[]) => ({ b: { properties: Object.fromEntries(names.map((name) => [name, {}])) } })
    assert.deepEqual(listChanges(fields('c', 'd'), fields('d', 'c'), '/x'), ['/x'])
    assert.deepEqual(listChanges({ ...fields('c', 'd'), e: 1 }, { ...fields('d', 'c'), e: 2 }), ['/b', '/e'])
  })

  test('of two people are merged key by key; both keep what only one of them changed', () => {
    const base = { description: 'Before', scopes: ['a'], schema: 'Todo', old: 1 }
    const mine = { description: 'Mine', scopes: ['a'], schema: 'Todo', old: 1, rate: 'slow' }
    const theirs = { description: 'Theirs', scopes: ['a', 'b'], schema: 'Todo' }
    assert.deepEqual(mergeValues(base, mine, theirs), {
      value: { description: 'Mine', scopes: ['a', 'b'], schema: 'Todo', rate: 'slow' },
      clashes: [{ at: '/description', base: 'Before', mine: 'Mine', theirs: 'Theirs' }],
    })
    assert.deepEqual(mergeValues(base, undefined, theirs).clashes.length, 1)
    assert.deepEqual(mergeValues(base, undefined, base), { value: undefined, clashes: [] })
  })
})

describe('completion of YAML', () => {
  const lines = [
    'routes:',
    '  /todo:',
    '    scopes: [todo]',
    '    methods:',
    '      GET:',
    '        description: Lists',
    '        ',
    '        action: list',
    'plugins:',
    '  - name: a',
    '    ',
  ]
  const schema = makeEditorSchema() as Readonly<Record<string, unknown>>

  test('finds the keys around the cursor and beside it', () => {
    assert.deepEqual(findPlace(lines, 6, '        ti'), {
      keys: ['routes', '/todo', 'methods', 'GET'],
      siblings: ['description', 'action'],
      valueOf: undefined,
      from: 8,
    })
    assert.deepEqual(findPlace(lines, 6, '        rate: s')?.valueOf, 'rate')
    assert.deepEqual(findPlace(lines, 10, '    ho')?.keys, ['plugins', '-'])
    assert.deepEqual(findPlace(lines, 10, '    ho')?.siblings, ['name'])
    assert.equal(findPlace(lines, 6, '        # ti'), undefined)
  })

  test('finds the class whose config the cursor is in', () => {
    const config = ['list:', '  config:', '    limit:', '      ', '  class: sql-table', 'other:', '  class: none']
    assert.deepEqual(findPlace(config, 3, '      ma')?.config, { class: 'sql-table', keys: ['limit'] })
    assert.equal(findPlace(['list:', '  config:', '    '], 2, '    ')?.config, undefined)
  })

  test('finds the keys that the definition language allows there', () => {
    const { properties } = schemasAt(schema, ['routes', '/todo', 'methods', 'GET']).find((one) => 'properties' in one)!
    assert.ok('dispatch' in (properties as object))
    const plugin = schemasAt(schema, ['plugins', '-']).find((one) => 'properties' in one)!
    assert.ok('host' in (plugin['properties'] as object))
  })
})

describe('what is said about a save', () => {
  const at = pointerOf('routes', '/todo', 'methods', 'POST')

  test('names the fields that changed in each entry, or the entries that were added or removed', () => {
    const method = { at, value: { action: 'Todo', timeout: '5s' } }
    assert.deepEqual(describeEdits([{ at, value: { action: 'Todo', description: 'x' } }], [method]).entries, [
      { name: 'POST /todo', fields: ['timeout', 'description'] },
    ])
    assert.deepEqual(describeEdits([{ at }], [method]).entries, [{ name: 'POST /todo', fields: [] }])
    const config = pointerOf('action', 'Todo', 'config', 'columns')
    const scope = pointerOf('scope', 'todo')
    assert.deepEqual(
      describeEdits(
        [
          { at: config, value: ['id'] },
          { at: scope, value: {} },
          { at: pointerOf('config', 'title'), value: 'Same' },
        ],
        [{ at: config, value: ['id', 'title'] }, { at: '/scope' }],
      ).entries,
      [
        { name: 'Todo', fields: ['columns'] },
        { name: 'todo', fields: [] },
      ],
    )
  })

  test('it is shown on the pages of its entries and on their lists only', () => {
    const { pages } = describeEdits([{ at: pointerOf('event', 'done'), value: {} }], [{ at: '/event' }])
    const shown = [['events'], ['events', 'done'], ['events', 'other'], ['routes'], []]
    assert.deepEqual(
      shown.map((page) => isOneOf(pages, page)),
      [true, true, false, false, false],
    )
    const shared = [['routes', '/todo']]
    assert.ok(isOneOf(shared, ['routes', 'GET /todo']))
    assert.ok(!isOneOf(shared, ['routes', 'GET /other/todo']))
  })
})
