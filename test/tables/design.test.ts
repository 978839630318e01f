import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseMigration, writeMigration } from '../../src/definition/index.ts'
import type { TablesSnapshot } from '../../src/contract/index.ts'
import {
  amendSteps,
  applySteps,
  describeBreaking,
  describeLosses,
  designTable,
  writeSnapshot,
  type DesignedColumn,
  type Step,
  type TableDesign,
} from '../../src/tables/index.ts'

const none: TablesSnapshot = { tables: {} }
const todo: TableDesign = {
  name: 'app_todo',
  columns: [
    { name: 'id', type: 'id' },
    { name: 'title', type: 'text', length: 200 },
    { name: 'status', type: 'integer', default: 1 },
    { name: 'insert_date', type: 'timestamp', default: 'now' },
  ],
  key: [],
  unique: [],
  index: [['status', 'id']],
}

/** The state of a project with the table, created by a migration that ran. */
function create(design = todo) {
  const { steps, problems, tables } = amendSteps({ steps: [], tables: none, earlier: [] }, { table: undefined, design })
  assert.deepEqual(problems, [])
  return { steps, tables, design: designTable(design.name, tables.tables[design.name]!, steps) }
}

/** Changes the table in a new migration. */
function change(edit: (design: TableDesign) => TableDesign | undefined, from = create()) {
  const amendment = { steps: [], tables: from.tables, earlier: from.steps }
  return amendSteps(amendment, { table: from.design.name, design: edit(from.design) })
}

const withColumns =
  (edit: (columns: readonly DesignedColumn[]) => readonly DesignedColumn[]) => (design: TableDesign) => ({
    ...design,
    columns: edit(design.columns),
  })
const rename = (names: Readonly<Record<string, string>>) =>
  withColumns((columns) => columns.map((column) => ({ ...column, name: names[column.name] ?? column.name })))
const edit = (name: string, part: Partial<DesignedColumn>) =>
  withColumns((all) => all.map((one) => (one.name === name ? { ...one, ...part } : one)))(create().design)
const show = (steps: readonly Step[]) =>
  steps.map((step) => {
    if (step.step === 'rename_column') return `${step.column} → ${step.to}`
    if ('columns' in step && Array.isArray(step.columns)) return `${step.step} ${step.columns.join()}`
    return `${step.step} ${'column' in step ? step.column : step.table}`
  })

test('a new table is one step, in the order of its columns', () => {
  const { steps, design } = create()
  assert.deepEqual(steps, [
    {
      step: 'create_table',
      table: 'app_todo',
      columns: {
        id: { type: 'id' },
        title: { type: 'text', length: 200 },
        status: { type: 'integer', default: 1 },
        insert_date: { type: 'timestamp', default: 'now' },
      },
      index: [['status', 'id']],
    },
  ])
  assert.deepEqual(
    design.columns.map(({ was: _was, ...column }) => column),
    todo.columns,
  )
  assert.deepEqual(design.index, todo.index)
})

test('a column with a new name is renamed, and indexes keep it', () => {
  const { steps, problems } = change((design) => ({
    ...rename({ title: 'name', status: 'state' })(design),
    index: [['state', 'id']],
  }))
  assert.deepEqual(problems, [])
  assert.deepEqual(show(steps), ['title → name', 'status → state'])
})

test('columns can exchange their names, and take the name of a dropped one', () => {
  const from = create({ ...todo, columns: [...todo.columns, { name: 'a', type: 'text' }, { name: 'b', type: 'text' }] })
  const swapped = change(rename({ a: 'b', b: 'a' }), from)
  assert.deepEqual(swapped.problems, [])
  assert.deepEqual(show(swapped.steps), ['a → a_old', 'b → a', 'a_old → b'])
  const taken = change(
    (design) => rename({ b: 'a' })(withColumns((columns) => columns.filter(({ name }) => name !== 'a'))(design)),
    from,
  )
  assert.deepEqual(show(taken.steps), ['drop_column a', 'b → a'])
})

test('dropping a column drops its indexes first, and says what is lost', () => {
  const { steps, problems } = change((design) => ({
    ...withColumns((columns) => columns.filter(({ name }) => name !== 'status'))(design),
    index: [],
  }))
  assert.deepEqual(problems, [])
  assert.deepEqual(show(steps), ['drop_index status,id', 'drop_column status'])
  assert.deepEqual(describeLosses(steps), ['The values of app_todo.status'])
  assert.deepEqual(describeLosses(change(() => undefined).steps), ['All rows of app_todo'])
})

test('columns and indexes are added', () => {
  const { steps, problems } = change((design) => ({
    ...withColumns((columns) => [...columns, { name: 'note', type: 'text', null: true }])(design),
    index: [...design.index, ['insert_date', 'id']],
  }))
  assert.deepEqual(problems, [])
  assert.deepEqual(show(steps), ['add_column note', 'add_index insert_date,id'])
})

test('a column changes its type, NULL and its default', () => {
  const { steps, problems } = change(
    withColumns((columns) =>
      columns.map((one) => {
        if (one.name === 'title') return { ...one, name: 'name', type: 'text' as const, length: 500, default: '' }
        return one.name === 'status'
          ? { name: 'status', was: 'status', type: 'bigint' as const, null: true as const }
          : one
      }),
    ),
  )
  assert.deepEqual(problems, [])
  assert.deepEqual(steps, [
    { step: 'rename_column', table: 'app_todo', column: 'title', to: 'name' },
    { step: 'alter_column', table: 'app_todo', column: 'name', change: { type: 'text', length: 500, default: '' } },
    {
      step: 'alter_column',
      table: 'app_todo',
      column: 'status',
      change: { type: 'bigint', null: true, default: null },
    },
  ])
  assert.deepEqual(parseMigration('a.yml', writeMigration(steps)).steps, steps)
})

test('what cannot change is a problem of its field', () => {
  const wrong: readonly [TableDesign, string][] = [
    [rename({ title: '' })(create().design), '/columns/1/name'],
    [rename({ title: 'status' })(create().design), '/columns/2/name'],
    [rename({ title: 'a b' })(create().design), '/columns/1/name'],
    [withColumns((all) => all.map((one) => ({ ...one, null: true })))(create().design), '/columns/0/null'],
    [withColumns((all) => [...all, { name: 'x', type: 'text' }])(create().design), '/columns/4/name'],
    [
      withColumns((all) => [...all, { name: 'x', type: 'integer', default: 'a' }])(create().design),
      '/columns/4/default',
    ],
    [edit('title', { length: 3 }), '/columns/1/type'],
    [edit('status', { type: 'text' }), '/columns/2/type'],
    [edit('status', { unique: true }), '/columns/2/unique'],
    [edit('status', { references: 'app_todo' }), '/columns/2/references'],
    [{ ...create().design, index: [['nothing']] }, '/index'],
    [{ ...create().design, key: ['title'] }, '/key'],
    [{ ...create().design, name: 'other' }, '/name'],
  ]
  for (const [design, pointer] of wrong) {
    const { problems } = change(() => design)
    assert.ok(
      problems.some((problem) => problem.pointer === pointer),
      `${pointer}: ${JSON.stringify(problems)}`,
    )
  }
  const { problems } = amendSteps(
    { steps: [], tables: none, earlier: [] },
    {
      table: undefined,
      design: { ...todo, name: 'waypost_x', columns: [{ name: 'a', type: 'text', references: 'b' }] },
    },
  )
  assert.deepEqual(
    problems.map(({ pointer }) => pointer),
    ['/name'],
  )
})

test('a migration that has not run is amended, not stacked', () => {
  const { steps, design } = create()
  const amendment = { steps, tables: none, earlier: [] }
  const edited: TableDesign = {
    ...design,
    name: 'app_task',
    columns: design.columns
      .filter(({ name }) => name !== 'status')
      .map((column) => (column.name === 'title' ? { ...column, name: 'name', length: 60 } : column))
      .concat({ name: 'done', type: 'boolean' }),
    index: [],
  }
  const amended = amendSteps(amendment, { table: 'app_todo', design: edited })
  assert.deepEqual(amended.problems, [])
  assert.deepEqual(
    amended.steps,
    create({ ...edited, columns: edited.columns.map(({ was: _was, ...one }) => one) }).steps,
  )
  assert.deepEqual(amendSteps(amendment, { table: 'app_todo', design: undefined }).steps, [])
})

test('a renamed column of a migration that has not run can be renamed again, or back', () => {
  const from = create()
  const first = change(rename({ title: 'name' }), from)
  const design = designTable('app_todo', first.tables.tables['app_todo']!, [...from.steps, ...first.steps])
  assert.deepEqual(
    design.columns.map(({ name }) => name),
    ['id', 'name', 'status', 'insert_date'],
  )
  const amendment = { steps: first.steps, tables: from.tables, earlier: from.steps }
  const again = amendSteps(amendment, { table: 'app_todo', design: rename({ name: 'label' })(design) })
  assert.deepEqual([again.problems, show(again.steps)], [[], ['title → label']])
  const back = amendSteps(amendment, { table: 'app_todo', design: rename({ name: 'title' })(design) })
  assert.deepEqual([back.problems, back.steps], [[], []])
})

test('a table of the same migration can refer to one that is created after it', () => {
  const first = create()
  const list: TableDesign = { name: 'app_list', columns: [{ name: 'id', type: 'id' }], key: [], unique: [], index: [] }
  const both = amendSteps({ steps: first.steps, tables: none, earlier: [] }, { table: undefined, design: list })
  const { design } = first
  const referring = {
    ...design,
    columns: [
      ...design.columns,
      { name: 'list_id', type: 'bigint' as const, references: 'app_list', on_delete: 'cascade' as const },
    ],
  }
  const { steps, problems } = amendSteps(
    { steps: both.steps, tables: none, earlier: [] },
    { table: 'app_todo', design: referring },
  )
  assert.deepEqual([problems, show(steps)], [[], ['create_table app_list', 'create_table app_todo']])
})

// Any edit of a table leads exactly to the table that was designed, in a new migration and in an amended one.
test('random edits lead to the designed table', () => {
  let seed = 7
  const random = (limit: number) => (seed = (seed * 48_271) % 2_147_483_647) % limit
  for (let round = 0; round < 300; round++) {
    let state = create({ ...todo, index: [] })
    let pending: readonly Step[] = []
    for (let count = 0; count < 3; count++) {
      const after = applySteps(state.tables, pending).tables
      const design = designTable('app_todo', after.tables['app_todo']!, [...state.steps, ...pending])
      const free = ['a', 'b', 'c', 'd', 'title', 'status'].toSorted(() => random(3) - 1)
      const columns = design.columns
        .filter(({ name }) => name === 'id' || random(4) > 0)
        .map((column) => (column.name === 'id' || random(2) === 0 ? column : { ...column, name: `t${column.name}` }))
      const taken = new Set(columns.map(({ name }) => name))
      const renamed = columns.map((column) => {
        const name = free.find((one) => !taken.has(one))
        if (!column.name.startsWith('t') || name === undefined || column.name === 'title') return column
        taken.add(name)
        if (column.type !== 'integer' || random(2) === 0) return { ...column, name }
        const { default: _, ...rest } = column
        return random(2) === 0 ? { ...rest, name, null: true as const } : { ...column, name, type: 'bigint' as const }
      })
      const added = free.filter((name) => !taken.has(name)).slice(0, random(2))
      const texts = renamed.flatMap(({ name, type }) => (type === 'text' ? [name] : []))
      const wanted = {
        ...design,
        columns: [...renamed, ...added.map((name): DesignedColumn => ({ name, type: 'integer', null: true }))],
        index: renamed.length > 1 && random(2) === 0 ? [[renamed[1]!.name]] : [],
        search: texts.length > 0 && random(2) === 0 ? { columns: texts } : undefined,
      }
      const amendment = { steps: pending, tables: state.tables, earlier: state.steps }
      const result = amendSteps(amendment, { table: 'app_todo', design: wanted })
      assert.deepEqual(result.problems, [], JSON.stringify({ design, wanted, steps: result.steps }))
      const fresh = create({ ...wanted, columns: wanted.columns.map(({ was: _was, ...one }) => one) })
      assert.equal(
        writeSnapshot({ migrations: {}, ...result.tables }),
        writeSnapshot({ migrations: {}, ...fresh.tables }),
      )
      pending = result.steps
      if (random(2) === 0) {
        state = { design: wanted, tables: result.tables, steps: state.steps.concat(result.steps) }
        pending = []
      }
    }
  }
})

test('an enum of a table gets and loses values, and a decimal more digits', () => {
  const from = create({
    ...todo,
    columns: [
      ...todo.columns,
      { name: 'kind', type: 'enum', values: ['a', 'b'], default: 'a' },
      { name: 'price', type: 'numeric', precision: 10, scale: 2 },
      { name: 'label', type: 'text' },
    ],
  })
  const changed = change(
    withColumns((all) =>
      all.map((one) => {
        if (one.name === 'kind') return { ...one, values: ['b', 'c'], default: 'b' }
        if (one.name === 'price') return { ...one, precision: 12 }
        return one.name === 'label' ? { ...one, type: 'enum', values: ['x'] } : one
      }),
    ),
    from,
  )
  assert.deepEqual(changed.problems, [])
  assert.deepEqual(
    changed.steps.map((step) => (step.step === 'alter_column' ? step.change : step.step)),
    [
      { type: 'enum', add_values: ['c'], remove_values: ['a'], default: 'b' },
      { type: 'numeric', precision: 12, scale: 2 },
      { type: 'enum', values: ['x'] },
    ],
  )
  const { kind, price, label } = changed.tables.tables['app_todo']!.columns
  assert.deepEqual([kind!.values, price!.precision, label!.values], [['b', 'c'], 12, ['x']])
  const text = writeMigration(changed.steps)
  assert.deepEqual(parseMigration('a.yml', text).steps, changed.steps)
  assert.deepEqual(describeBreaking(changed.steps), [
    'no longer allows a in app_todo.kind',
    'only allows x in app_todo.label',
  ])
})

test('columns without what their type needs are problems', () => {
  for (const [column, pointer] of [
    [{ name: 'kind', type: 'enum' }, '/columns/1/type'],
    [{ name: 'kind', type: 'enum', values: ['a', 'a'] }, '/columns/1/values'],
    [{ name: 'kind', type: 'enum', values: ['a'], default: 'b' }, '/columns/1/default'],
    [{ name: 'price', type: 'numeric' }, '/columns/1/type'],
    [{ name: 'price', type: 'numeric', precision: 2, scale: 3 }, '/columns/1/scale'],
    [{ name: 'price', type: 'numeric', precision: 3, scale: 2, default: '10.00' }, '/columns/1/default'],
    [{ name: 'title', type: 'text', values: ['a'] }, '/columns/1/values'],
    [{ name: 'title', type: 'text', scale: 1 }, '/columns/1/scale'],
    [{ name: 'title', type: 'literal', default: 'x' }, '/columns/1/type'],
  ] as const) {
    const design: TableDesign = { ...todo, columns: [todo.columns[0]!, column], index: [] }
    const { problems } = amendSteps({ steps: [], tables: none, earlier: [] }, { table: undefined, design })
    assert.deepEqual([problems[0]?.pointer, problems.length], [pointer, 1], JSON.stringify([column, problems]))
  }
})
