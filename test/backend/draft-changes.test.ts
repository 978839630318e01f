import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { listDraftChanges, rebase, selectChanges } from '../../src/backend/draft/system/draft-changes.ts'
import type { Texts } from '../../src/definition/index.ts'
import { anyEdits, makeEdits, toOneFile, toTexts, valueOf, type Files } from '../support/definition-edits.ts'
import { fc, runs } from '../support/property.ts'

const namesOf = (base: Texts, draft: Texts) => listDraftChanges(base, draft).map(({ name }) => name)
const filesOf = (texts: Texts): Files => Object.fromEntries([...texts].toSorted(([a], [b]) => (a < b ? -1 : 1)))

const base: Files = {
  'waypost.yml':
    'config: { title: Todo }\nroutes:\n  /todo: !include resources/todo.yml # mine\nschema: !include resources/schema.yml\n',
  'resources/todo.yml':
    '# all todos\nmethods:\n  GET: { public: true, action: src/a.ts } # list\n  POST: { scopes: [todo], action: src/b.ts }\n',
  'resources/schema.yml':
    '# all\nTodo:\n  type: object\n  properties:\n    id: { type: integer }\n    title: { type: string }\n',
  'migrations/System/1.yml': 'create_table: {}\n',
}
const replaced = (file: string, from: string, to: string, files = base): Files => {
  assert.ok(files[file]!.includes(from), from)
  return { ...files, [file]: files[file]!.replace(from, to) }
}

describe('the changes of a draft', () => {
  const changesTo = (draft: Files, from = base) =>
    listDraftChanges(toTexts(from), toTexts(draft)).map(({ name, file, status }) => `${name} ${file} ${status}`)

  test('are entries; of a route one method, if nothing else of it differs', () => {
    const method = replaced('resources/todo.yml', '[todo]', '[write]')
    assert.deepEqual(changesTo(method), ['/routes/~1todo/methods/POST resources/todo.yml changed'])
    const both = replaced('resources/todo.yml', 'methods:', 'scopes: [all]\nmethods:', method)
    assert.deepEqual(changesTo(both), ['/routes/~1todo resources/todo.yml changed'])
    const title = replaced('waypost.yml', 'Todo', 'Tasks')
    assert.deepEqual(changesTo(title), ['/config/title waypost.yml changed'])
  })

  test('are files that the definition does not include, and comments', () => {
    const { 'migrations/System/1.yml': _, ...less } = base
    assert.deepEqual(changesTo(less), ['migrations/System/1.yml migrations/System/1.yml removed'])
    const comment = replaced('resources/todo.yml', '# all todos', '# all')
    assert.deepEqual(changesTo(comment), ['resources/todo.yml resources/todo.yml changed'])
    const withValue = replaced('resources/todo.yml', '[todo]', '[write]', comment)
    assert.deepEqual(changesTo(withValue), ['/routes/~1todo/methods/POST resources/todo.yml changed'])
  })

  test('are files if aliases repeat too many values, and can be discarded', () => {
    const keys = Array.from({ length: 20 }, (_, index) => `k${index}: 1`).join(', ')
    const repeated = `schema:\n  A: &a { ${keys} }\n  B:\n${'    <<: *a\n'.repeat(1100)}`
    const draft = { ...base, 'resources/schema.yml': repeated.replace('schema:\n', '') }
    assert.deepEqual(changesTo(draft), ['resources/schema.yml resources/schema.yml changed'])
    assert.deepEqual(filesOf(selectChanges({ base: toTexts(base), draft: toTexts(draft) }, [])), filesOf(toTexts(base)))
    const [only] = namesOf(toTexts(base), toTexts(draft))
    const undone = selectChanges({ base: toTexts(draft), draft: toTexts(base) }, [only!])
    assert.deepEqual(filesOf(undone), filesOf(toTexts(base)))
  })

  test('are one change if entries only moved to other files', () => {
    const moved = {
      ...replaced('waypost.yml', 'resources/schema.yml', 'resources/schemas.yml'),
      'resources/schemas.yml': base['resources/schema.yml']!,
    } as Record<string, string>
    delete moved['resources/schema.yml']
    assert.deepEqual(changesTo(moved), ['waypost.yml waypost.yml changed'])
  })

  test('of an empty base are all entries', () => {
    assert.deepEqual(changesTo(base, {}), [
      '/config/title waypost.yml added',
      '/routes/~1todo resources/todo.yml added',
      '/schema/Todo resources/schema.yml added',
      'migrations/System/1.yml migrations/System/1.yml added',
    ])
    assert.deepEqual(filesOf(selectChanges({ base: new Map(), draft: toTexts(base) }, ['/schema/Todo'])), {
      'waypost.yml': 'schema: !include resources/schema.yml\n',
      'resources/schema.yml': base['resources/schema.yml'],
    })
  })

  test('are whole files while one cannot be parsed', () => {
    const broken = { ...replaced('waypost.yml', 'Todo', 'Tasks'), 'resources/todo.yml': 'methods: [' }
    assert.deepEqual(changesTo(broken), [
      'resources/todo.yml resources/todo.yml changed',
      'waypost.yml waypost.yml changed',
    ])
    const selected = selectChanges({ base: toTexts(base), draft: toTexts(broken) }, ['waypost.yml'])
    assert.deepEqual(filesOf(selected), filesOf(toTexts(replaced('waypost.yml', 'Todo', 'Tasks'))))
  })
})

describe('a selection of changes', () => {
  test('takes files with their comments if all of their changes are selected', () => {
    const draft = replaced(
      'resources/schema.yml',
      'id: { type: integer }',
      'id: { type: string } # text',
      replaced('resources/todo.yml', '[todo]', '[write]'),
    )
    const selected = selectChanges({ base: toTexts(base), draft: toTexts(draft) }, ['/schema/Todo'])
    assert.deepEqual(
      filesOf(selected),
      filesOf(toTexts({ ...base, 'resources/schema.yml': draft['resources/schema.yml']! })),
    )
  })

  test('on an empty base keeps the files of its entries', () => {
    const draft = toTexts({ 'waypost.yml': base['waypost.yml']!, 'resources/todo.yml': base['resources/todo.yml']! })
    const selected = selectChanges({ base: new Map(), draft }, ['/routes/~1todo'])
    assert.deepEqual(filesOf(selected), {
      'waypost.yml': 'routes:\n  /todo: !include resources/todo.yml\n',
      'resources/todo.yml': base['resources/todo.yml'],
    })
  })

  test('of one method leaves the other one and all comments of the file', () => {
    const draft = replaced(
      'resources/todo.yml',
      'src/a.ts',
      'src/c.ts',
      replaced('resources/todo.yml', '[todo]', '[write]'),
    )
    const selected = selectChanges({ base: toTexts(base), draft: toTexts(draft) }, ['/routes/~1todo/methods/POST'])
    assert.deepEqual(filesOf(selected), filesOf(toTexts(replaced('resources/todo.yml', '[todo]', '[write]'))))
  })
})

describe('a rebased draft', () => {
  const draft = toTexts(
    replaced(
      'waypost.yml',
      'Todo',
      'Mine',
      replaced('resources/todo.yml', '[todo], action: src/b.ts }', '[mine], action: src/b.ts } # comment'),
    ),
  )

  test('keeps its changes and takes those of the new base', () => {
    const newBase = toTexts(replaced('resources/schema.yml', '# all', '# every one'))
    const { texts, conflicts } = rebase({ oldBase: toTexts(base), newBase, draft })
    assert.deepEqual(conflicts, [])
    assert.deepEqual(namesOf(newBase, texts), ['/config/title', '/routes/~1todo/methods/POST'])
    assert.match(texts.get('resources/todo.yml')!, /\[mine\].* # comment/)
    assert.match(texts.get('resources/schema.yml')!, /every one/)
  })

  test('has a conflict where both changed the same, which is decided one by one', () => {
    const newBase = toTexts(
      replaced('waypost.yml', 'Todo', 'Theirs', replaced('resources/todo.yml', '[todo]', '[theirs]')),
    )
    const versions = { oldBase: toTexts(base), newBase, draft }
    const { texts, conflicts } = rebase(versions)
    assert.deepEqual(conflicts, [
      { name: '/config/title', at: '/config/title', file: 'waypost.yml', base: 'Todo', theirs: 'Theirs', mine: 'Mine' },
      {
        name: '/routes/~1todo/methods/POST/scopes',
        at: '/routes/~1todo/methods/POST/scopes',
        file: 'resources/todo.yml',
        base: ['todo'],
        theirs: ['theirs'],
        mine: ['mine'],
      },
    ])
    assert.deepEqual(filesOf(texts), filesOf(draft))
    const decided = rebase(versions, { '/config/title': 'theirs' })
    assert.deepEqual(namesOf(newBase, decided.texts), ['/routes/~1todo/methods/POST'])
    const other = rebase(versions, { '/config/title': 'theirs', '/routes/~1todo/methods/POST/scopes': 'theirs' })
    assert.deepEqual(valueOf(other.texts), valueOf(newBase))
  })

  test('is merged file by file while one cannot be parsed', () => {
    const broken = new Map([...draft, ['resources/todo.yml', 'methods: [']])
    const newBase = toTexts(replaced('waypost.yml', 'Todo', 'Theirs', replaced('resources/schema.yml', '# all', '#')))
    const { texts, conflicts } = rebase({ oldBase: toTexts(base), newBase, draft: broken }, { 'waypost.yml': 'theirs' })
    assert.deepEqual(
      conflicts.map(({ name }) => name),
      ['waypost.yml'],
    )
    assert.deepEqual(filesOf(texts), filesOf(new Map([...newBase, ['resources/todo.yml', 'methods: [']])))
  })
})

const layouts = fc.constantFrom<Files>(base, {}, toOneFile(base))

test('any selection of any changes can be published, and leaves exactly the others', () => {
  fc.assert(
    fc.property(
      layouts,
      anyEdits(5),
      fc.array(fc.boolean(), { minLength: 15, maxLength: 15 }),
      (files, made, chosen) => {
        const start = toTexts(files)
        const draft = makeEdits(start, made)
        const names = namesOf(start, draft)
        assert.deepEqual(filesOf(selectChanges({ base: start, draft }, names)), filesOf(draft), 'all')
        assert.deepEqual(filesOf(selectChanges({ base: start, draft }, [])), filesOf(start), 'none')
        const [taken, left] = [names.filter((_, index) => chosen[index]), names.filter((_, index) => !chosen[index])]
        const published = selectChanges({ base: start, draft }, taken)
        assert.deepEqual(namesOf(start, published).toSorted(), taken.toSorted(), 'published')
        const { texts, conflicts } = rebase({ oldBase: start, newBase: published, draft })
        assert.deepEqual(conflicts, [])
        assert.deepEqual(valueOf(texts), valueOf(draft))
        assert.deepEqual(namesOf(published, texts).toSorted(), left.toSorted(), 'left')
      },
    ),
    { numRuns: runs(1200) },
  )
})
