import type { ColumnType, ForeignKeySnapshot, TableSnapshot, TablesSnapshot } from '../contract/index.ts'
import { checkDefault } from './check-default.ts'
import { applySteps, type ApplyOptions } from './apply-steps.ts'
import { findSame, hasList, isSameList, type StepProblem } from './step-context.ts'
import type { ColumnDeclaration, Step, TableDeclaration } from './steps.ts'

/** A table as a form edits it. */
export interface TableDesign {
  readonly name: string
  /** In order. */
  readonly columns: readonly DesignedColumn[]
  /** The columns of the primary key; empty for the column of type `id`. */
  readonly key: readonly string[]
  /** Combinations of several columns. A column that is unique alone has `unique`. */
  readonly unique: readonly (readonly string[])[]
  readonly index: readonly (readonly string[])[]
}

export interface DesignedColumn extends Omit<ColumnDeclaration, 'type'> {
  readonly name: string
  readonly type: ColumnType
  /** Its name so far; undefined for a new column. */
  readonly was?: string | undefined
}

/** A problem of a design. */
export interface DesignProblem {
  /** JSON pointer into the design. */
  readonly pointer: string
  readonly message: string
  readonly hint?: string | undefined
}

interface PlannedSteps {
  readonly steps: readonly Step[]
  readonly problems: readonly DesignProblem[]
}

/**
 * Returns a table of a snapshot as a design.
 * @param steps all declared steps of the connection, which know the order and the defaults of its columns
 */
export function designTable(name: string, table: TableSnapshot, steps: readonly Step[]): TableDesign {
  const declared = declareColumns(name, steps)
  const names = [...new Set([...Object.keys(declared), ...(table.key ?? []), ...Object.keys(table.columns)])]
  const unique = table.unique ?? []
  const columns = names.flatMap((column): DesignedColumn[] => {
    const known = Object.hasOwn(table.columns, column) ? table.columns[column]! : undefined
    if (known === undefined) return []
    const fallback = known.default && declared[column]?.default
    const reference = table.references?.find((one) => isSameList(one.columns, [column]))
    return [
      {
        name: column,
        was: column,
        type: known.type,
        ...(known.length !== undefined && { length: known.length }),
        ...(known.null && { null: true }),
        ...(fallback !== undefined && { default: fallback }),
        ...(hasList(unique, [column]) && { unique: true }),
        ...(reference && { references: nameTarget(reference, declared[column]) }),
        ...(reference?.on_delete && { on_delete: reference.on_delete }),
      },
    ]
  })
  const key = columns.some(({ type }) => type === 'id') ? [] : (table.key ?? [])
  return { name, columns, key, unique: unique.filter(({ length }) => length > 1), index: table.index ?? [] }
}

/** Keeps the short form of a reference to a key. */
function nameTarget({ table, to }: ForeignKeySnapshot, declared: ColumnDeclaration | undefined): string {
  return declared?.references === table ? table : `${table}.${to.join()}`
}

/** Returns the columns of a table as they were declared, under their current names. */
function declareColumns(name: string, steps: readonly Step[]): TableDeclaration['columns'] {
  let columns: TableDeclaration['columns'] = {}
  for (const step of steps.filter(({ table }) => table === name)) {
    if (step.step === 'create_table') columns = step.columns
    else if (step.step === 'add_column') columns = { ...columns, [step.column]: step.as }
    else if (step.step === 'drop_table') columns = {}
    else if (step.step === 'rename_column' || step.step === 'drop_column') {
      const name = step.step === 'rename_column' ? [step.to] : []
      columns = Object.fromEntries(
        Object.entries(columns).flatMap(([column, value]) =>
          (column === step.column ? name : [column]).map((one) => [one, value]),
        ),
      )
    }
  }
  return columns
}

/**
 * Returns the steps that turn one state of a table into another: without `before` they create it, without `after` they
 * drop it. A column that has a new name is renamed, never dropped and added.
 */
function planDesign(before: TableDesign | undefined, after: TableDesign | undefined): PlannedSteps {
  if (after === undefined) return { steps: before ? [{ step: 'drop_table', table: before.name }] : [], problems: [] }
  const problems = checkDesign(after)
  if (before === undefined) return { steps: [createTable(after)], problems }
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

function changeTable(before: TableDesign, { columns, index }: TableDesign): readonly Step[] {
  const { name: table } = before
  const kept = new Map(columns.flatMap(({ was, name }) => (was === undefined ? [] : [[was, name] as const])))
  const dropped = before.columns.map(({ name }) => name).filter((name) => !kept.has(name))
  const renameAll = (list: readonly string[]) => list.map((name) => kept.get(name) ?? name)
  const isKept = (list: readonly string[]) =>
    !list.some((name) => dropped.includes(name)) && hasList(index, renameAll(list))
  const keptIndexes = before.index.filter(isKept).map(renameAll)
  return [
    ...before.index
      .filter((list) => !isKept(list))
      .map((list) => ({ step: 'drop_index' as const, table, columns: list })),
    ...dropped.map((column) => ({ step: 'drop_column' as const, table, column })),
    ...orderRenames(kept).map(([column, to]) => ({ step: 'rename_column' as const, table, column, to })),
    ...columns
      .filter(({ was }) => was === undefined)
      .map((column) => ({ step: 'add_column' as const, table, column: column.name, as: declareColumn(column) })),
    ...index
      .filter((list) => !hasList(keptIndexes, list))
      .map((list) => ({ step: 'add_index' as const, table, columns: list })),
  ]
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

const namePattern = /^(?!__proto__$)[A-Za-z_][A-Za-z0-9_]{0,62}$/

/** Checks what the steps cannot tell: they have each column once, under its name. */
function checkDesign({ name, columns }: TableDesign): readonly DesignProblem[] {
  const hint = 'Use up to 63 letters, digits and _ and begin with a letter or _'
  const checkName = (value: string, pointer: string): DesignProblem[] =>
    namePattern.test(value)
      ? []
      : [{ pointer, message: value === '' ? 'Enter a name' : `"${value}" is not a valid name`, hint }]
  return [
    ...checkName(name, '/name'),
    ...(columns.length === 0 ? [{ pointer: '/columns', message: 'A table needs a column' }] : []),
    ...columns.flatMap((column, index): readonly DesignProblem[] => {
      const at = `/columns/${index}`
      const same = findSame(
        column.name,
        columns.slice(0, index).map((one) => one.name),
      )
      const expected =
        column.default === undefined || column.was !== undefined || column.type === 'other'
          ? undefined
          : checkDefault(column as ColumnDeclaration)
      return [
        ...checkName(column.name, `${at}/name`),
        ...(same === undefined || same === ''
          ? []
          : [{ pointer: `${at}/name`, message: `There is another column "${same}"` }]),
        ...(expected === undefined ? [] : [{ pointer: `${at}/default`, message: `The default must be ${expected}` }]),
        ...(column.type === 'other' && column.was === undefined
          ? [{ pointer: `${at}/type`, message: 'Choose a type' }]
          : []),
      ]
    }),
  ]
}

const fixedParts = ['type', 'length', 'null', 'default', 'unique', 'references', 'on_delete'] as const

/** No step changes the type, the constraints or the key of a table that exists. */
function checkChanges(before: TableDesign, after: TableDesign): readonly DesignProblem[] {
  const hint = 'Write a TypeScript migration, or add another column and drop this one'
  const problems: DesignProblem[] = []
  const kept = new Map<string, string>()
  for (const [index, column] of after.columns.entries()) {
    if (column.was === undefined) continue
    const old = before.columns.find(({ name }) => name === column.was)
    const pointer = `/columns/${index}`
    if (old === undefined || kept.has(column.was)) problems.push({ pointer, message: `Unknown column "${column.was}"` })
    else
      for (const part of fixedParts)
        if (JSON.stringify(column[part]) !== JSON.stringify(old[part]))
          problems.push({
            pointer: `${pointer}/${part}`,
            message: 'This part of an existing column cannot change',
            hint,
          })
    kept.set(column.was, column.name)
  }
  const renameAll = (lists: TableDesign['unique']) => lists.map((list) => list.map((name) => kept.get(name) ?? name))
  const sorted = (lists: TableDesign['unique']) => JSON.stringify(lists.map((list) => JSON.stringify(list)).toSorted())
  const remaining = before.unique.filter((list) => list.every((name) => kept.has(name)))
  if (sorted(renameAll(remaining)) !== sorted(after.unique))
    problems.push({ pointer: '/unique', message: 'The unique columns of an existing table cannot change', hint })
  if (!isSameList(renameAll([before.key])[0]!, after.key))
    problems.push({ pointer: '/key', message: 'The key of an existing table cannot change', hint })
  if (before.name !== after.name)
    problems.push({
      pointer: '/name',
      message: 'An existing table cannot be renamed',
      hint: 'Write a TypeScript migration',
    })
  return problems
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
  if (step.step === 'add_column')
    return { pointer: pointerOf(indexOf(first, 'name'), second === undefined ? ['name'] : [second]), ...rest }
  if (step.step === 'rename_column') return { pointer: pointerOf(indexOf(first, 'was'), ['name']), ...rest }
  return { pointer: step.step === 'add_index' || step.step === 'drop_index' ? '/index' : '', ...rest }
}

/** Describes what is lost when steps run. */
export function describeLosses(steps: readonly Step[]): readonly string[] {
  return steps.flatMap((step) => {
    if (step.step === 'drop_table') return [`All rows of ${step.table}`]
    return step.step === 'drop_column' ? [`The values of ${step.table}.${step.column}`] : []
  })
}
