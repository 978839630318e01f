import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  EditRefused,
  findValue,
  mergeDefinitions,
  openEditing,
  type Merged,
  type Texts,
} from '../../src/definition/index.ts'
import {
  anyEdits,
  applyFiles,
  makeEdits,
  toOneFile,
  toTexts,
  valueOf,
  type Files,
} from '../support/definition-edits.ts'
import { fc, runs } from '../support/property.ts'

function merge(files: { base: Files; theirs: Files; mine: Files }, prefer?: 'mine' | 'theirs') {
  const texts = { base: toTexts(files.base), theirs: toTexts(files.theirs), mine: toTexts(files.mine) }
  const { files: changes, conflicts } = mergeDefinitions(texts, prefer)
  return { after: Object.fromEntries(applyFiles(texts.mine, changes)), conflicts }
}

const base: Files = {
  'waypost.yml': 'routes:\n  /todo: !include resources/todo.yml # mine\nschema: !include resources/schema.yml\n',
  'resources/todo.yml':
    'methods:\n  GET: { public: true, action: src/a.ts }\n  POST: { scopes: [todo], action: src/b.ts }\n',
  'resources/schema.yml':
    '# all\nTodo:\n  type: object\n  properties:\n    id: { type: integer }\n    title: { type: string }\n',
  'migrations/System/tables.json': '{}\n',
}

test('a file that only they changed becomes theirs, with its comments', () => {
  const theirs = {
    ...base,
    'resources/schema.yml': `# new comment\n${base['resources/schema.yml']}Id: { type: integer }\n`,
  }
  const mine = { ...base, 'resources/todo.yml': base['resources/todo.yml']!.replace('[todo]', '[todo, admin]') }
  const { after, conflicts } = merge({ base, theirs, mine })
  assert.deepEqual(conflicts, [])
  assert.deepEqual(after, { ...theirs, 'resources/todo.yml': mine['resources/todo.yml'] })
})

test('different keys of one file are merged, and comments of mine stay', () => {
  const theirs = { ...base, 'resources/todo.yml': base['resources/todo.yml']!.replace('[todo]', '[write]') }
  const mine = {
    ...base,
    'resources/todo.yml': `# about\n${base['resources/todo.yml']!.replace('src/a.ts', 'src/c.ts')}`,
  }
  const { after, conflicts } = merge({ base, theirs, mine })
  assert.deepEqual(conflicts, [])
  assert.equal(
    after['resources/todo.yml'],
    '# about\nmethods:\n  GET: { public: true, action: src/c.ts }\n  POST: { scopes: [write], action: src/b.ts }\n',
  )
})

test('a key that both changed is a conflict with its place; the others are merged', () => {
  const change = (scopes: string, action: string) => ({
    ...base,
    'resources/todo.yml': base['resources/todo.yml']!.replace('[todo]', scopes).replace('src/a.ts', action),
  })
  const files = { base, theirs: change('[theirs]', 'src/theirs.ts'), mine: change('[mine]', 'src/a.ts') }
  const { after, conflicts } = merge(files)
  assert.deepEqual(conflicts, [
    {
      at: '/routes/~1todo/methods/POST/scopes',
      file: 'resources/todo.yml',
      line: 3,
      values: { base: ['todo'], theirs: ['theirs'], mine: ['mine'] },
    },
  ])
  assert.match(after['resources/todo.yml']!, /\[mine\]/)
  assert.match(after['resources/todo.yml']!, /theirs\.ts/)
  assert.match(merge(files, 'theirs').after['resources/todo.yml']!, /\[theirs\]/)
})

test('a route that one side removed and the other changed is a conflict', () => {
  const { 'resources/todo.yml': _, ...others } = base
  const removed = { ...others, 'waypost.yml': 'schema: !include resources/schema.yml\n' }
  const changed = { ...base, 'resources/todo.yml': base['resources/todo.yml']!.replace('[todo]', '[mine]') }
  const { after, conflicts } = merge({ base, theirs: removed, mine: changed })
  assert.deepEqual(
    conflicts.map(({ at }) => at),
    ['/routes'],
  )
  assert.deepEqual(after, changed)
  assert.deepEqual(merge({ base, theirs: removed, mine: changed }, 'theirs').after, removed)
  assert.deepEqual(merge({ base, theirs: changed, mine: removed }).after, removed)
  assert.deepEqual(
    valueOf(toTexts(merge({ base, theirs: changed, mine: removed }, 'theirs').after)),
    valueOf(toTexts(changed)),
  )
})

test('a new route of theirs gets its file beside a new route of mine', () => {
  const add = (name: string) => ({
    ...base,
    'waypost.yml': base['waypost.yml']!.replace(
      '\nschema',
      `\n  /${name}: !include resources/routes/${name}-of.yml\nschema`,
    ),
    [`resources/routes/${name}-of.yml`]: `# ${name}\nmethods:\n  GET: { public: true, action: src/${name}.ts }\n`,
  })
  const { after, conflicts } = merge({ base, theirs: add('theirs'), mine: add('mine') })
  assert.deepEqual(conflicts, [])
  assert.equal(
    after['waypost.yml'],
    'routes:\n  /todo: !include resources/todo.yml # mine\n  /mine: !include resources/routes/mine-of.yml\n' +
      '  /theirs: !include resources/routes/theirs-of.yml\nschema: !include resources/schema.yml\n',
  )
  assert.equal(
    after['resources/routes/theirs-of.yml'],
    '# theirs\nmethods:\n  GET: { public: true, action: src/theirs.ts }\n',
  )
})

test('fields that both added are ordered by those before them', () => {
  const add = (after: string, field: string) => ({
    ...base,
    'resources/schema.yml': base['resources/schema.yml']!.replace(after, `${after}\n    ${field}: { type: boolean }`),
  })
  const theirs = add('    id: { type: integer }', 'theirs')
  const mine = add('    title: { type: string }', 'mine')
  const { after } = merge({ base, theirs, mine })
  const { schema } = valueOf(toTexts(after)) as { schema: { Todo: { properties: object } } }
  assert.deepEqual(Object.keys(schema.Todo.properties), ['id', 'theirs', 'title', 'mine'])
})

test('files that are not included are taken whole, or are a conflict', () => {
  const theirs = { ...base, 'migrations/System/1.yml': 'theirs', 'migrations/System/tables.json': '{"a":1}\n' }
  assert.deepEqual(merge({ base, theirs, mine: base }).after, theirs)
  const mine = { ...base, 'migrations/System/1.yml': 'mine' }
  const { after, conflicts } = merge({ base, theirs, mine })
  assert.deepEqual(conflicts, [
    {
      at: undefined,
      file: 'migrations/System/1.yml',
      line: undefined,
      values: { base: undefined, theirs: 'theirs', mine: 'mine' },
    },
  ])
  assert.deepEqual(after, { ...theirs, 'migrations/System/1.yml': 'mine' })
})

test('a definition that does not parse is refused with its file', () => {
  const mine = { ...base, 'resources/todo.yml': 'methods: [' }
  assert.throws(
    () => merge({ base, theirs: base, mine }),
    (error) => error instanceof EditRefused && error.file === 'resources/todo.yml',
  )
})

const layouts = fc.constantFrom<Files>(base, toOneFile(base), {
  ...base,
  'resources/schema.yml': JSON.stringify(
    findValue(openEditing(undefined, { texts: toTexts(base) }), ['schema']),
    undefined,
    2,
  ),
})
const changes = anyEdits(4)

/** @returns undefined if the merged place is shared, which is refused */
function mergeAll(texts: { base: Texts; theirs: Texts; mine: Texts }, prefer?: 'mine' | 'theirs'): Merged {
  return mergeDefinitions(texts, prefer)
}

test('any changes of both sides', () => {
  fc.assert(
    fc.property(layouts, changes, changes, (files, ofTheirs, ofMine) => {
      const start = toTexts(files)
      const [theirs, mine] = [makeEdits(start, ofTheirs), makeEdits(start, ofMine)]
      assert.deepEqual(
        applyFiles(start, mergeAll({ base: start, theirs, mine: start }).files),
        theirs,
        'mine is unchanged',
      )
      assert.equal(mergeAll({ base: start, theirs: start, mine }).files.size, 0, 'theirs is unchanged')
      assert.equal(mergeAll({ base: start, theirs, mine: theirs }).files.size, 0, 'both made the same changes')
      const [kept, swapped] = [
        mergeAll({ base: start, theirs, mine }),
        mergeAll({ base: start, theirs: mine, mine: theirs }, 'theirs'),
      ]
      const pointers = ({ conflicts }: Merged) =>
        conflicts.map(({ at }) => at ?? '').toSorted((a, b) => (a < b ? -1 : 1))
      assert.deepEqual(pointers(kept), pointers(swapped))
      const merged = applyFiles(mine, kept.files)
      assert.deepEqual(valueOf(merged), valueOf(applyFiles(theirs, swapped.files)))
      assert.equal(mergeAll({ base: theirs, theirs, mine: merged }).files.size, 0, 'a second merge changes nothing')
      if (kept.conflicts.length === 0)
        assert.deepEqual(
          valueOf(applyFiles(theirs, mergeAll({ base: start, theirs: mine, mine: theirs }).files)),
          valueOf(merged),
          'either side can merge',
        )
    }),
    { numRuns: runs(1000) },
  )
})
