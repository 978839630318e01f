// What the schema editor needs: fields are renamed and moved with their comments.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from 'yaml'
import { openEditing, setInDefinition, type Writable } from '../../src/definition/index.ts'
import { fc, runs } from '../support/property.ts'
import { makeProject } from './project.ts'

function edit(text: string, value: Writable, file = 's.yml'): string | undefined {
  using project = makeProject({ 'waypost.yml': `schema: !include ${file}\n`, [file]: text })
  return setInDefinition(openEditing(project.root), ['schema', 'Todo'], value).get(file)
}

const fields = (properties: Writable) => ({ type: 'object', properties })
const block = `# All schemas
Todo:
  type: object # closed
  properties:
    # The title
    title: { type: string } # short

    # What is left to do:
    # as text
    content:
      type: string # long
      # nothing yet
    done: { type: boolean }
# The end
`
const text: Writable = { type: 'string' }
const flag: Writable = { type: 'boolean' }

test('a renamed field keeps its place, its comments and its text', () => {
  const edited = edit(block, fields({ title: text, body: text, done: flag }))
  assert.equal(edited, block.replace('content:', 'body:'))
  assert.equal(
    edit(block, fields({ heading: text, content: text, ready: flag })),
    block.replace('title:', 'heading:').replace('done:', 'ready:'),
  )
})

test('a field that is renamed and changed is replaced in its place', () => {
  const edited = edit(block, fields({ heading: { type: 'integer' }, content: text, done: flag }))
  assert.deepEqual(Object.keys(parse(edited!).Todo.properties), ['heading', 'content', 'done'])
})

test('fields that change their order move with the comments above and inside of them', () => {
  const edited = edit(block, fields({ content: text, title: text, done: flag }))
  assert.deepEqual(Object.keys(parse(edited!).Todo.properties), ['content', 'title', 'done'])
  assert.equal(
    edited,
    `# All schemas
Todo:
  type: object # closed
  properties:
    # The title
    # What is left to do:
    # as text
    content:
      type: string # long
      # nothing yet

    title: { type: string } # short
    done: { type: boolean }
# The end
`,
  )
  const last = edit(block, fields({ title: text, done: flag, content: text }))
  assert.equal(
    last,
    `# All schemas
Todo:
  type: object # closed
  properties:
    # The title
    title: { type: string } # short

    done: { type: boolean }
    # What is left to do:
    # as text
    content:
      type: string # long
      # nothing yet
# The end
`,
  )
})

for (const [name, before, after] of [
  [
    'in braces',
    'Todo: { type: object, properties: { title: { type: string }, done: { type: boolean } } }',
    'Todo: { type: object, properties: { done: { type: boolean }, title: { type: string } } }',
  ],
  [
    'with CRLF',
    'Todo:\r\n  type: object\r\n  properties:\r\n    title: { type: string }\r\n    done: { type: boolean }',
    'Todo:\r\n  type: object\r\n  properties:\r\n    done: { type: boolean }\r\n    title: { type: string }',
  ],
] as const) {
  test(`fields ${name} are moved`, () => {
    assert.equal(edit(before, fields({ done: flag, title: text })), after)
  })
}

test('fields in JSON are moved and renamed', () => {
  const before = JSON.stringify({ Todo: fields({ title: text, done: flag }) }, undefined, 2)
  const after = JSON.stringify({ Todo: fields({ done: flag, name: text }) }, undefined, 2)
  assert.equal(edit(before, fields({ done: flag, name: text }), 's.json'), after)
})

test('the order of other keys stays', () => {
  assert.equal(edit(block, { properties: { title: text, content: text, done: flag }, type: 'object' }), undefined)
})

test('fields with names that are numbers stay in their order', () => {
  const before = 'Todo:\n  type: object\n  properties:\n    b: {}\n    1: {}\n    a: {}\n'
  assert.equal(edit(before, fields({ '1': {}, a: {}, b: {} })), undefined)
})

test('any fields, moved, renamed, added and removed, have the new order', () => {
  const names = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd e', "f'", 'null', '#g', 'h:'), { maxLength: 6 })
  const kinds = fc.constantFrom<Writable>(
    { type: 'string' },
    { type: 'integer' },
    {},
    { type: 'object', properties: { z: {}, y: {} } },
  )
  const objects = fc
    .tuple(names, fc.array(kinds, { minLength: 6, maxLength: 6 }))
    .map(([keys, values]) => Object.fromEntries(keys.map((key, index) => [key, values[index]!])))
  fc.assert(
    fc.property(objects, objects, fc.boolean(), (before, after, isCommented) => {
      const lines = Object.entries(before).flatMap(([key, value], index) => [
        ...(isCommented ? [`    # about ${index}`] : []),
        `    ${JSON.stringify(key)}: ${JSON.stringify(value)}${isCommented ? ` # ${index}` : ''}`,
      ])
      const head = lines.length === 0 ? '  properties: {}' : '  properties:'
      const source = ['Todo:', '  type: object', head, ...lines, ''].join('\n')
      const edited = edit(source, fields(after)) ?? source
      const { properties } = parse(edited, { stringKeys: true }).Todo
      assert.deepEqual(properties, after, source)
      assert.deepEqual(Object.keys(properties), Object.keys(after), source)
    }),
    { numRuns: runs(300) },
  )
})
