import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isAlias, isMap, isNode, isPair, isScalar, isSeq, parseDocument, type Node } from 'yaml'
import { reparseText } from '../../src/definition/reparse-text.ts'
import { yamlOptions } from '../../src/definition/yaml-options.ts'
import { isLong } from '../support/forms.ts'
import { fc } from '../support/property.ts'

const text = `# notes
config: { docs: public } # one line
action:
  Note:
    class: sql-table
    config: { table: note, columns: [id, text] }

scope:
  note: &note { description: Notes }
  other: *note
schema:
  Message:
    type: object
    required:
      - text
      - "id"
    description: |
      Several lines

        and more

    properties:
      text: { type: string }
      id:
        type: integer
        # below

  # the next one
  List: !include list.yml
  Plain:
    description: text in
      two lines
    enum: [1, 2,
      3]
routes:
  /note:
    scopes: [note]
    methods:
      # reads
      GET:
        public: true
        action: Note # one
      POST: { action: Note }

  # with a key
  /note/:id:
    methods:
      DELETE:
        action: Note
        description: >+
          folded
          text

`

const pieces = fc.constantFrom(
  'a',
  '1',
  ' ',
  '  ',
  '\n',
  '\n\n',
  '#',
  '# c\n',
  ':',
  ': ',
  ', ',
  '"',
  "'",
  '|',
  '- ',
  '{',
  '}',
  '[x]',
  '\t',
  '\r\n',
  '&a ',
  '*note',
  '!include x.yml',
  '---\n',
  '...\n',
  '%YAML 1.2\n',
  '? ',
  '<<: *note\n',
  'null',
  '~',
  '!!str ',
  '\u{FEFF}',
  '  /new:\n    methods:\n      GET: { action: Note }\n',
  '      PUT:\n        action: Note\n',
  'event:\n  made: {}\n',
  '  description: |\n    lines\n\n',
  '        - item\n',
  '    text: >-\n      folded\n',
  'key',
  'text: "two\n  lines"\n',
)

const place = fc.double({ min: 0, max: 1, noNaN: true })
/** Changes any characters. */
const wild = fc.record({
  at: place,
  length: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 12 }), fc.integer({ min: 0, max: 200 })),
  insert: fc.oneof(
    pieces,
    fc.array(pieces, { maxLength: 3 }).map((parts) => parts.join('')),
  ),
})
/** Replaces lines by other lines of the text. */
const lines = fc.record({
  at: place,
  count: fc.integer({ min: 0, max: 3 }),
  from: place,
  copied: fc.integer({ min: 0, max: 4 }),
})
const words = fc.record({ at: place, word: fc.constantFrom('', 'a', 'word', '1', 'a b', 'ünï', 'x # c') })
type Edit = { readonly at: number } & (
  | { readonly length: number; readonly insert: string }
  | { readonly count: number; readonly from: number; readonly copied: number }
  | { readonly word: string }
)
const edits: fc.Arbitrary<readonly Edit[]> = fc.array(fc.oneof<fc.Arbitrary<Edit>[]>(wild, lines, words, words), {
  minLength: 1,
  maxLength: 12,
})

function applyEdit(before: string, edit: Edit): string {
  const offset = Math.floor(edit.at * (before.length + 1))
  if ('insert' in edit) return before.slice(0, offset) + edit.insert + before.slice(offset + edit.length)
  if ('count' in edit) {
    const all = before.split('\n')
    const from = Math.floor(edit.from * all.length)
    return all
      .toSpliced(Math.floor(edit.at * all.length), edit.count, ...all.slice(from, from + edit.copied))
      .join('\n')
  }
  const found = /[a-z]+/.exec(before.slice(offset))
  const start = offset + (found?.index ?? 0)
  return before.slice(0, start) + edit.word + before.slice(start + (found?.[0].length ?? 0))
}

/** Returns all that is read of a node. */
function describe(node: unknown): unknown {
  if (isPair(node)) return [describe(node.key), describe(node.value)]
  if (!isNode(node)) return node
  const [start, end] = node.range ?? []
  const { tag, anchor, flow, type, source } = node as Node & Partial<Record<string, unknown>>
  const own = { start, end, tag, anchor }
  if (isScalar(node)) return { ...own, type, source, value: node.value }
  if (isAlias(node)) return { ...own, alias: node.source }
  return isMap(node) || isSeq(node)
    ? { ...own, kind: isMap(node) ? 'map' : 'list', flow, items: node.items.map(describe) }
    : own
}

test('a text that is parsed again in part has the same nodes as one that is parsed as a whole', () => {
  const counts = { inPart: 0, asWhole: 0 }
  fc.assert(
    fc.property(edits, fc.constantFrom(0, 60, 300), (all, limit) => {
      let before = { text, content: parseDocument(text, yamlOptions).contents as Node | null }
      for (const edit of all) {
        const after = applyEdit(before.text, edit)
        const whole = parseDocument(after, yamlOptions)
        const known =
          before.content === null || after === before.text ? undefined : reparseText({ ...before }, after, limit)
        if (known !== undefined) {
          counts.inPart += 1
          assert.equal(whole.errors.length, 0, `it has errors: ${JSON.stringify(after)}`)
          assert.deepEqual(describe(known), describe(whole.contents), JSON.stringify([before.text, after]))
        }
        if (whole.errors.length > 0) continue
        if (known === undefined && after !== before.text) counts.asWhole += 1
        before = { text: after, content: known ?? whole.contents }
      }
    }),
    { numRuns: isLong ? 10_000 : 80 },
  )
  assert.ok(counts.inPart > counts.asWhole / 4, JSON.stringify(counts))
})

test('a file with a problem, another document or a directive is parsed as a whole', () => {
  const parse = () => ({ text, content: parseDocument(text, yamlOptions).contents as Node })
  for (const [from, to] of [
    ['class: sql-table', 'class: "sql-table'],
    ['schema:', '---\nschema:'],
    ['schema:', '...\nschema:'],
    ['# notes', '%YAML 1.1\n---\n# notes'],
    ['  /note:', ' /note:'],
    ['      # reads\n', ''],
  ] as const) {
    const after = text.replace(from, to)
    const known = reparseText(parse(), after, 0)
    if (to === '') assert.deepEqual(describe(known), describe(parseDocument(after, yamlOptions).contents))
    else assert.equal(known, undefined, to)
  }
})
