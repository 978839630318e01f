import type { TablesSnapshot } from '../contract/index.ts'
import { applySteps, type ApplyOptions } from './apply-steps.ts'
import { changeSearch, searchOf } from './apply-search.ts'
import { checkChanges, checkDesign } from './check-design.ts'
import { designTable, type DesignedColumn, type DesignProblem, type TableDesign } from './design.ts'
import { hasList, isSameList, type StepProblem } from './step-context.ts'
import type { ColumnChange, ColumnDeclaration, Step } from './steps.ts'

interface PlannedSteps {
  readonly steps: readonly Step[]
  readonly problems: readonly DesignProblem[]
}

/**
 * Returns the steps that turn one state of a table into another: without `before` they create it, without `after` they
 * drop it. A column that has a new name is renamed, never dropped and added.
 */
function planDesign(before: TableDesign | undefined, after: TableDesign | undefined): PlannedSteps {
  if (after === undefined) return { steps: before ? [{ step: 'drop_table', table: before.name }] : [], problems: [] }
  const problems = checkDesign(after)
  if (before === undefined) return { steps: [createTable(after), ...addSearch(after)], problems }
  return { steps: changeTable(before, after), problems: [...problems, ...checkChanges(before, after)] }
}

function createTable({ name: table, columns, key, unique, index }: TableDesign): Step {
  const isGiven = key.length > 0 && !columns.some(({ name, type }) => type === 'id' && isSameList(key, [name]))
  return {
    step: 'create_table',
    table,
    columns: Object.fromEntries(columns.map((column) => [column.name, declareColumn(column)])),
    ...(isGiven && { key }),
    ...(unique.length > 0 && { unique }),
    ...(index.length > 0 && { index }),
  }
}

function declareColumn({ name: _name, was: _was, ...column }: DesignedColumn): ColumnDeclaration {
  return column as ColumnDeclaration
}

function addSearch({ name: table, search }: TableDesign): readonly Step[] {
  return search === undefined ? [] : [{ step: 'add_search', table, ...searchOf(search) }]
}

function changeTable(before: TableDesign, after: TableDesign): readonly Step[] {
  const { columns, index } = after
  const { name: table } = before
  const kept = new Map(columns.flatMap(({ was, name }) => (was === undefined ? [] : [[was, name] as const])))
  const dropped = before.columns.map(({ name }) => name).filter((name) => !kept.has(name))
  const renameAll = (list: readonly string[]) => list.map((name) => kept.get(name) ?? name)
  const isKept = (list: readonly string[]) =>
    !list.some((name) => dropped.includes(name)) && hasList(index, renameAll(list))
  const keptIndexes = before.index.filter(isKept).map(renameAll)
  const known = changeSearch(before.search, (name) => (dropped.includes(name) ? undefined : (kept.get(name) ?? name)))
  const isSearched = JSON.stringify(known) === JSON.stringify(after.search && searchOf(after.search))
  return [
    ...(isSearched || before.search === undefined ? [] : [{ step: 'drop_search' as const, table, ...before.search }]),
    ...before.index
      .filter((list) => !isKept(list))
      .map((list) => ({ step: 'drop_index' as const, table, columns: list })),
    ...dropped.map((column) => ({ step: 'drop_column' as const, table, column })),
    ...orderRenames(kept).map(([column, to]) => ({ step: 'rename_column' as const, table, column, to })),
    ...columns.flatMap((column) => {
      const change = diffColumn(before.columns.find(({ name }) => name === column.was) ?? column, column)
      return change === undefined ? [] : [{ step: 'alter_column' as const, table, column: column.name, change }]
    }),
    ...columns
      .filter(({ was }) => was === undefined)
      .map((column) => ({ step: 'add_column' as const, table, column: column.name, as: declareColumn(column) })),
    ...index
      .filter((list) => !hasList(keptIndexes, list))
      .map((list) => ({ step: 'add_index' as const, table, columns: list })),
    ...(isSearched ? [] : addSearch(after)),
  ]
}

function diffColumn(before: DesignedColumn, after: DesignedColumn): ColumnChange | undefined {
  const isSame = (part: 'type' | 'length' | 'precision' | 'scale' | 'null' | 'default') =>
    JSON.stringify(before[part]) === JSON.stringify(after[part])
  const { type, length, precision, scale, null: isNullable = false, default: fallback = null } = after
  const isOther = !(['type', 'length', 'precision', 'scale'] as const).every(isSame)
  const needsType = isOther || (!isSame('default') && fallback !== null)
  const change = {
    ...(needsType && { type: type as ColumnDeclaration['type'] }),
    ...(needsType && length !== undefined && { length }),
    ...(needsType && precision !== undefined && { precision }),
    ...(needsType && scale !== undefined && { scale }),
    ...diffValues(before, after),
    ...(!isSame('null') && { null: isNullable }),
    ...(!isSame('default') && { default: fallback }),
  }
  return Object.keys(change).length === 0 ? undefined : change
}

/** An enum that exists gets and loses values, so that changes of two branches can be merged. */
function diffValues(
  { type: from, values: old = [] }: DesignedColumn,
  { type, values = [] }: DesignedColumn,
): Pick<ColumnChange, 'values' | 'add_values' | 'remove_values'> {
  if (type !== 'enum') return {}
  if (from !== 'enum') return { values }
  const [added, removed] = [values.filter((one) => !old.includes(one)), old.filter((one) => !values.includes(one))]
  return { ...(added.length > 0 && { add_values: added }), ...(removed.length > 0 && { remove_values: removed }) }
}

/** A name must be free before another column gets it. Columns that exchange their names need a third one. */
function orderRenames(kept: ReadonlyMap<string, string>): readonly (readonly [from: string, to: string])[] {
  const waiting = [...kept].filter(([from, to]) => from !== to)
  const used = new Set(waiting.map(([from]) => from))
  const ordered: (readonly [string, string])[] = []
  while (waiting.length > 0) {
    const free = waiting.findIndex(([from, to]) => !used.has(to) || to.toLowerCase() === from.toLowerCase())
    const [from, to] = waiting.splice(Math.max(free, 0), 1)[0]!
    const next = free === -1 ? nameBetween(from, new Set([...kept].flat())) : to
    if (free === -1) waiting.push([next, to])
    ordered.push([from, next])
    used.delete(from)
    used.add(next)
  }
  return ordered
}

function nameBetween(name: string, used: ReadonlySet<string>): string {
  let between = `${name.slice(0, 58)}_old`
  while (used.has(between)) between = `${between.slice(0, 62)}_`
  return between
}

/** What a migration that has not run becomes when a table changes once more. */
export interface Amendment {
  /** The steps of the migration so far; none for a new migration. */
  readonly steps: readonly Step[]
  /** The tables before the migration. */
  readonly tables: TablesSnapshot
  /** The declared steps of the migrations before it. */
  readonly earlier: readonly Step[]
}

/**
 * Replaces what the steps of a migration do to one table, so that the table gets a design.
 * @param table its name after the steps so far; undefined for a new table
 * @param design its columns name those after the steps so far; undefined drops the table
 */
export function amendSteps(
  { steps, tables, earlier }: Amendment,
  { table, design }: { readonly table: string | undefined; readonly design: TableDesign | undefined },
  options: ApplyOptions = {},
): PlannedSteps & { readonly tables: TablesSnapshot } {
  const own = steps.filter((step) => table !== undefined && step.table === table)
  const isCreated = own.some(({ step }) => step === 'create_table')
  const found =
    table !== undefined && !isCreated && Object.hasOwn(tables.tables, table) ? tables.tables[table] : undefined
  const before = found && designTable(table!, found, earlier)
  const after = design && {
    ...design,
    columns: design.columns.map((column) => ({ ...column, was: originOf(column.was, own) })),
  }
  const planned = planDesign(before, after)
  const others = steps.filter((step) => !own.includes(step))
  const at = own.length === 0 ? others.length : steps.indexOf(own[0]!)
  // After the other steps if the table now refers to a table that they create.
  const candidates = [others.toSpliced(at, 0, ...planned.steps), [...others, ...planned.steps]].map((all) => ({
    all,
    ...applySteps(tables, all, options),
  }))
  const [best] = candidates.toSorted((a, b) => a.problems.length - b.problems.length)
  const { all, problems, tables: result } = best!
  const known = new Set(planned.problems.map(({ pointer }) => pointer))
  const more = problems
    .map((problem) => pointTo(problem, all[problem.step]!, after))
    .filter(({ pointer }) => !known.has(pointer))
  return { steps: all, tables: result, problems: [...planned.problems, ...more] }
}

/** Returns the name that a column had before steps; undefined if they add it. */
function originOf(name: string | undefined, steps: readonly Step[]): string | undefined {
  return steps.toReversed().reduce((current, step) => {
    if (current === undefined || step.step === 'create_table') return undefined
    if (step.step === 'add_column') return step.column === current ? undefined : current
    return step.step === 'rename_column' && step.to === current ? step.column : current
  }, name)
}

/** Finds the part of a design that leads to a problem of a step. */
function pointTo({ path, message, hint }: StepProblem, step: Step, design: TableDesign | undefined): DesignProblem {
  const rest = { message, ...(hint !== undefined && { hint }) }
  if (design === undefined || step.table !== design.name) return { pointer: '', ...rest }
  const [first, second, ...parts] = path
  const indexOf = (name: string | undefined, by: 'name' | 'was') => design.columns.findIndex((one) => one[by] === name)
  const pointerOf = (index: number, more: readonly (string | undefined)[]) =>
    index === -1 ? '' : ['/columns', index, ...more].join('/')
  if (step.step === 'create_table') {
    if (first === 'columns') return { pointer: pointerOf(indexOf(second, 'name'), parts), ...rest }
    return { pointer: `/${first ?? 'name'}`, ...rest }
  }
  if (step.step === 'add_column' || step.step === 'alter_column')
    return { pointer: pointerOf(indexOf(first, 'name'), second === undefined ? ['name'] : [second]), ...rest }
  if (step.step === 'rename_column') return { pointer: pointerOf(indexOf(first, 'was'), ['name']), ...rest }
  if (step.step === 'add_search' || step.step === 'drop_search') return { pointer: '/search', ...rest }
  return { pointer: step.step === 'add_index' || step.step === 'drop_index' ? '/index' : '', ...rest }
}

/** Describes what is lost when steps run. */
export function describeLosses(steps: readonly Step[]): readonly string[] {
  return steps.flatMap((step) => {
    if (step.step === 'drop_table') return [`All rows of ${step.table}`]
    return step.step === 'drop_column' ? [`The values of ${step.table}.${step.column}`] : []
  })
}
