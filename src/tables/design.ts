import type { ColumnType, ForeignKeySnapshot, SearchSnapshot, TableSnapshot } from '../contract/index.ts'
import { hasList, isSameList } from './step-context.ts'
import type { ColumnChange, ColumnDeclaration, Step, TableDeclaration } from './steps.ts'

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
  readonly search?: SearchSnapshot | undefined
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
        ...(known.values !== undefined && { values: known.values }),
        ...(known.precision !== undefined && { precision: known.precision }),
        ...(known.scale !== undefined && { scale: known.scale }),
        ...(known.null && { null: true }),
        ...(fallback !== undefined && { default: fallback }),
        ...(hasList(unique, [column]) && { unique: true }),
        ...(reference && { references: nameTarget(reference, declared[column]) }),
        ...(reference?.on_delete && { on_delete: reference.on_delete }),
      },
    ]
  })
  const key = columns.some(({ type }) => type === 'id') ? [] : (table.key ?? [])
  return {
    name,
    columns,
    key,
    unique: unique.filter(({ length }) => length > 1),
    index: table.index ?? [],
    ...(table.search && { search: table.search }),
  }
}

/** Keeps the short form of a reference to a key. */
function nameTarget(
  { table, to }: ForeignKeySnapshot,
  declared: ColumnDeclaration | undefined,
): NonNullable<ColumnDeclaration['references']> {
  if (table.includes('.')) return { table, column: to.join() }
  return declared?.references === table ? table : `${table}.${to.join()}`
}

function alterDeclaration(
  { length: before, ...declared }: ColumnDeclaration = { type: 'text' },
  { type, length = type === undefined ? before : undefined, default: fallback }: ColumnChange,
): ColumnDeclaration {
  const { default: _, ...rest } = { ...declared, ...(type && { type }), ...(length !== undefined && { length }) }
  const value = fallback === undefined ? declared.default : (fallback ?? undefined)
  return { ...rest, ...(value !== undefined && { default: value }) }
}

/** Returns the columns of a table as they were declared, under their current names. */
export function declareColumns(name: string, steps: readonly Step[]): TableDeclaration['columns'] {
  let columns: TableDeclaration['columns'] = {}
  for (const step of steps.filter(({ table }) => table === name)) {
    if (step.step === 'create_table') columns = step.columns
    else if (step.step === 'add_column') columns = { ...columns, [step.column]: step.as }
    else if (step.step === 'alter_column')
      columns = { ...columns, [step.column]: alterDeclaration(columns[step.column], step.change) }
    else if (step.step === 'drop_table') columns = {}
    else if (step.step === 'rename_column' || step.step === 'drop_column') {
      const next = step.step === 'rename_column' ? [step.to] : []
      const entries = Object.entries(columns)
      columns = Object.fromEntries(
        entries.flatMap(([own, value]) => (own === step.column ? next : [own]).map((one) => [one, value])),
      )
    }
  }
  return columns
}
