import assert from 'node:assert/strict'
import { tmpdir } from 'node:os'
import { test } from 'node:test'
import { DraftThread } from '../../src/backend/draft/thread/draft-thread.ts'
import { formatDiagnostics } from '../../src/backend/draft/format-diagnostics.ts'
import { listDraftChanges } from '../../src/backend/draft/system/draft-changes.ts'
import { openBaseBuilder } from '../../src/build/index.ts'
import { EditRefused, findValue, openEditing, type Texts } from '../../src/definition/index.ts'
import { isLong } from '../support/forms.ts'
import { fc } from '../support/property.ts'

const migration = 'create_table: { note: { columns: { id: id, text: text(200) } } }\n'

/** Long enough that a change is not parsed as a whole. */
const text = `config: { docs: public }
action:
  Note: { class: sql-table, config: { table: note, columns: [id, text], write: [text] } }
scope:
  note: { description: Notes }
schema:
  Message: { type: object, required: [text], properties: { text: { type: string, maxLength: 200 } } }
routes:
${Array.from(
  { length: 40 },
  (_, index) => `  /note/${index}:
    scopes: [note]
    methods:
      # reads
      GET:
        public: true
        description: |
          Lists notes ${index}.
        action: Note # one
      POST:
        description: Adds a note ${index}.
        action: Note
`,
).join('')}`

const place = fc.double({ min: 0, max: 1, noNaN: true })
type Edit = { readonly at: number } & (
  | { readonly word: string }
  | { readonly count: number; readonly from: number; readonly copied: number }
  | 'back'
)
const words = [
  '',
  'a',
  '"',
  '#',
  ': ',
  'Note',
  'note',
  'missing',
  'public',
  'GET',
  '[text]',
  '!include more.yml',
  '&a',
  '*a',
]
const edits: fc.Arbitrary<readonly (Edit | 'back')[]> = fc.array(
  fc.oneof(
    fc.record({ at: place, word: fc.constantFrom(...words) }),
    fc.record({
      at: place,
      count: fc.integer({ max: 9, min: 0 }),
      from: place,
      copied: fc.integer({ max: 14, min: 0 }),
    }),
    fc.constant('back' as const),
  ),
  { minLength: 3, maxLength: 7 },
)

function applyEdit(before: string, edit: Exclude<Edit, 'back'>): string {
  const lines = before.split('\n')
  const line = Math.floor(edit.at * (lines.length - 1))
  if ('word' in edit) return lines.with(line, lines[line]!.replace(/[\w.]+/, edit.word)).join('\n')
  const from = Math.floor(edit.from * (lines.length - 1))
  return lines.toSpliced(line, edit.count, ...lines.slice(from, from + edit.copied)).join('\n')
}

const refusing = async (work: () => unknown): Promise<unknown> => {
  try {
    return await work()
  } catch (error) {
    if (error instanceof EditRefused) return { refused: error.message, line: error.line }
    throw error
  }
}

const toTexts = (root: string): Texts =>
  new Map([
    ['waypost.yml', root],
    ['migrations/System/20260101-note.yml', migration],
    ['more.yml', 'scopes: [note]\n'],
  ])

test('a thread that has seen other texts finds the same as one that starts anew', async () => {
  const thread = new DraftThread({ folder: tmpdir(), root: undefined })
  const base = toTexts(text)
  try {
    await fc.assert(
      fc.asyncProperty(edits, async (all) => {
        let [before, root] = [text, text]
        for (const edit of all) {
          ;[before, root] = [root, edit === 'back' ? before : applyEdit(root, edit)]
          const texts = toTexts(root)
          const editing = () => openEditing(undefined, { texts })
          const builder = openBaseBuilder({ base: undefined, folder: tmpdir() })
          const { diagnostics, plugins } = await builder.load(texts)
          builder.close()
          const found = await thread.ask('check', { texts, release: undefined })
          assert.deepEqual(found.diagnostics, diagnostics)
          assert.deepEqual(found.plugins, plugins)
          assert.deepEqual(
            await thread.ask('format', { texts, diagnostics }),
            formatDiagnostics(editing(), diagnostics),
          )
          assert.deepEqual(await thread.ask('compare', { base, texts }), listDraftChanges(base, texts))
          assert.deepEqual(
            await refusing(async () => (await thread.ask('value', { texts, at: '/routes' }))?.value),
            await refusing(() => findValue(editing(), ['routes'])),
          )
        }
      }),
      { numRuns: isLong ? 150 : 1 },
    )
  } finally {
    thread.close()
  }
})
