import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TableSnapshot, TablesSnapshot, DatabaseKind } from '../../src/contract/index.ts'
import { makeDeclaredMigration } from '../../src/store/migrate/declared-migration.ts'
import { loadSnapshot } from '../../src/store/migrate/load-snapshot.ts'
import { applySteps, checkDefault, writeSnapshot, type ColumnDeclaration, type Step } from '../../src/tables/index.ts'
import { fc, runs } from '../support/property.ts'
import { describeEachDatabase } from './each-database.ts'

const defaults: Readonly<Record<ColumnDeclaration['type'], unknown>> = {
  id: undefined,
  integer: -7,
  bigint: 2 ** 40,
  number: 1.5,
  text: `it's "x" \\ ? :a`,
  boolean: true,
  timestamp: '2027-01-31T12:00:00.000Z',
  date: '2027-01-31',
  json: { a: [null, `it's`] },
  uuid: '00000000-0000-4000-8000-000000000001',
  enum: `it's \\ "x"`,
  numeric: '-12.5',
}
const values = [String(defaults.enum), 'b, c', 'd']
const types = Object.keys(defaults) as ColumnDeclaration['type'][]
const tableName = fc.constantFrom('a', 'b', 'a_b', 'order')
const columnName = fc.constantFrom('id', 'b', 'b_c', 'c', 'group', 'x')
const columnList = fc.shuffledSubarray(['id', 'b', 'b_c', 'c', 'group', 'x'], { minLength: 1, maxLength: 3 })

function rarely<Value>(arbitrary: fc.Arbitrary<Value>): fc.Arbitrary<Value | null> {
  return fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, { weight: 1, arbitrary })
}

const column = fc
  .record({
    type: fc.constantFrom(...types),
    isNull: fc.boolean(),
    hasDefault: fc.boolean(),
    unique: fc.nat({ max: 5 }),
    references: rarely(fc.tuple(tableName, fc.option(columnName))),
    onDelete: rarely(fc.constantFrom('cascade', 'set null', 'set default', 'restrict')),
  })
  .map(({ type, isNull, hasDefault, unique, references, onDelete }): ColumnDeclaration => {
    const [table, name] = references ?? []
    return {
      type,
      ...(type === 'text' && unique > 2 && { length: 40 }),
      ...(type === 'enum' && { values }),
      ...(type === 'numeric' && { precision: 6, ...(unique > 2 ? { scale: 1 } : { scale: 2 }) }),
      ...(isNull && type !== 'id' && { null: true }),
      ...(hasDefault && defaults[type] !== undefined && { default: defaults[type] }),
      ...(unique === 0 && type !== 'id' && { unique: true }),
      ...(table !== undefined && { references: name == null ? table : `${table}.${name}` }),
      ...(table !== undefined && onDelete !== null && { on_delete: onDelete }),
    }
  })

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc
      .record({
        table: tableName,
        columns: fc.dictionary(columnName, column, { minKeys: 1, maxKeys: 5 }),
        key: fc.option(columnList),
        unique: fc.array(columnList, { maxLength: 1 }),
        index: fc.array(columnList, { maxLength: 2 }),
      })
      .map(({ key, columns, ...rest }) => ({
        step: 'create_table' as const,
        ...rest,
        columns: key === null ? { id: { type: 'id' as const }, ...columns } : columns,
        ...(key !== null && { key }),
      })),
  },
  {
    weight: 3,
    arbitrary: fc.record({ step: fc.constant('add_column'), table: tableName, column: columnName, as: column }),
  },
  {
    weight: 3,
    arbitrary: fc
      .record({
        table: tableName,
        column: columnName,
        type: fc.constantFrom(...types),
        length: fc.constantFrom(undefined, 40, 80),
        null: fc.option(fc.boolean(), { nil: undefined }),
        hasDefault: fc.option(fc.boolean()),
      })
      .map(({ table, column: name, type, length, null: isNullable, hasDefault }) => ({
        step: 'alter_column' as const,
        table,
        column: name,
        change: {
          type,
          ...(type === 'text' && length !== undefined && { length }),
          ...(type === 'enum' && length === 40 && { values }),
          ...(type === 'enum' && length === 80 && { add_values: ['e'], remove_values: ['b, c'] }),
          ...(type === 'numeric' && { precision: 8, scale: length === 40 ? 1 : 2 }),
          ...(isNullable !== undefined && { null: isNullable }),
          ...(hasDefault !== null && { default: hasDefault ? (defaults[type] ?? null) : null }),
        },
      })),
  },
  { weight: 2, arbitrary: fc.record({ step: fc.constant('add_index'), table: tableName, columns: columnList }) },
  { weight: 2, arbitrary: fc.record({ step: fc.constant('drop_index'), table: tableName, columns: columnList }) },
  {
    weight: 3,
    arbitrary: fc.record({
      step: fc.constant('add_search'),
      table: tableName,
      columns: columnList,
      configuration: fc.constantFrom('simple', 'english'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ step: fc.constant('drop_search'), table: tableName, columns: columnList }) },
  {
    weight: 2,
    arbitrary: fc.record({ step: fc.constant('rename_column'), table: tableName, column: columnName, to: columnName }),
  },
  { weight: 2, arbitrary: fc.record({ step: fc.constant('drop_column'), table: tableName, column: columnName }) },
  { weight: 1, arbitrary: fc.record({ step: fc.constant('drop_table'), table: tableName }) },
) as fc.Arbitrary<Step>

/** Keeps the steps without problems, each after the ones before it. */
function chooseValid(steps: readonly Step[], kind: DatabaseKind) {
  const chosen: Step[] = []
  const texts = [writeSnapshot({ migrations: {}, tables: {} })]
  let tables: TablesSnapshot = { tables: {} }
  for (const given of steps) {
    const one = adapt(given, tables)
    if (hasInvalidDefault(one)) continue
    const applied = applySteps(tables, [one], { kind })
    if (applied.problems.length > 0) continue
    tables = applied.tables
    chosen.push(one)
    texts.push(writeSnapshot({ migrations: {}, ...tables }))
  }
  return { chosen, texts }
}

/** Replaces names of columns that do not exist, so that fewer steps have problems. */
function adapt(one: Step, { tables }: TablesSnapshot): Step {
  const table = tables[one.table]
  const existing = Object.keys((one.step === 'create_table' ? one : table)?.columns ?? {})
  const known = (names: readonly string[]) => {
    const found = names.filter((name) => existing.includes(name))
    return found.length > 0 ? found : existing.slice(-2)
  }
  switch (one.step) {
    case 'create_table':
      return {
        ...one,
        ...(one.key && { key: known(one.key) }),
        unique: (one.unique ?? []).map(known),
        index: (one.index ?? []).map(known),
      }
    case 'add_index':
      return { ...one, columns: known(one.columns) }
    case 'drop_index':
      return { ...one, columns: table?.index?.[0] ?? one.columns }
    case 'alter_column': {
      const name = known([one.column])[0] ?? one.column
      return { ...one, column: name, change: adaptChange(one.change, table?.columns[name]) }
    }
    case 'rename_column':
    case 'drop_column':
      return { ...one, column: known([one.column])[0] ?? one.column }
    default:
      return adaptSearch(one, table)
  }
}

function adaptSearch(one: Step, { columns = {}, search }: Partial<TableSnapshot> = {}): Step {
  if (one.step === 'drop_search') return { ...one, columns: [], ...search }
  if (one.step !== 'add_search') return one
  const texts = Object.keys(columns).filter((name) => ['text', 'enum'].includes(columns[name]!.type))
  return { ...one, columns: texts.slice(0, one.columns.length) }
}

type Change = Extract<Step, { readonly step: 'alter_column' }>['change']

function adaptChange(
  { type: wanted, length: _, default: value, ...change }: Change,
  column?: TableSnapshot['columns'][string],
): Change {
  const { type = 'other', length } = column ?? {}
  const own = type as ColumnDeclaration['type']
  const isBigger = type === 'integer' && wanted === 'bigint'
  return {
    ...change,
    type: isBigger ? 'bigint' : own,
    ...(type === 'text' && length !== undefined && wanted !== 'bigint' && { length: length * 2 }),
    ...(value !== undefined && { default: value === null ? null : (defaults[own] ?? null) }),
  }
}

function hasInvalidDefault(one: Step): boolean {
  const columns = one.step === 'create_table' ? Object.values(one.columns) : one.step === 'add_column' ? [one.as] : []
  return columns.some((given) => given.default !== undefined && checkDefault(given) !== undefined)
}

const rollback = new Error('rollback')

describeEachDatabase('steps without problems', ({ kind, type, open }) => {
  test('run, give the computed tables, and can be reverted', async () => {
    const { db } = await open()
    const used = new Set<string>()
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 60 }), async (steps) => {
        const { chosen, texts } = chooseValid(steps, kind)
        const run = db.transaction().execute(async (transaction) => {
          const introspect = async () => writeSnapshot({ ...(await loadSnapshot(transaction, kind)), migrations: {} })
          for (const [index, one] of chosen.entries()) {
            const migration = makeDeclaredMigration([one])
            await migration.up(transaction, type)
            used.add(one.step)
            assert.equal(await introspect(), texts[index + 1], one.step)
            if (migration.down === undefined) continue
            await migration.down(transaction, type)
            assert.equal(await introspect(), texts[index], `down of ${one.step}`)
            await migration.up(transaction, type)
          }
          throw rollback
        })
        await assert.rejects(run, (error) => {
          if (error === rollback) return true
          throw error
        })
      }),
      { numRuns: runs(400) },
    )
    assert.equal(used.size, 10)
  })
})
