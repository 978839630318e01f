import type { JsonSchema } from '../../contract/index.ts'
import type { WritableMap } from '../write-yaml.ts'
import { editDefinition, type Edit, type EditedFiles } from './edit-definition.ts'
import { EditRefused } from './edit-refused.ts'
import { listReached } from './references.ts'
import { placeOf, toPlain } from './find-value.ts'
import { pointerTo, type Editing } from './editing.ts'
import { findOwners, listMethods, type TableColumns } from './rename-columns.ts'
import { isObject, stepInto, type At, type Use } from './rename.ts'
import { collectRowSchemas, type RowPart, type RowSchema } from './row-schemas.ts'

/** A column that a table gets, or that new rows now need. */
export interface AddedColumn {
  readonly name: string
  /** The schema of its values. */
  readonly schema: JsonSchema
  /** Whether every row has a value. */
  readonly isAlwaysSet: boolean
  /** Whether new rows need a value from outside. */
  readonly isRequired: boolean
}

/** A place to which a column can be added. */
export interface ColumnPlace extends Use {
  readonly column: string
  /** Why it is not added there. */
  readonly problem: string | undefined
}

export interface AddColumnsOptions extends TableColumns {
  readonly columns: readonly AddedColumn[]
  /** The other columns of the table. They tell schemas of its rows from others. */
  readonly known: readonly string[]
  /** The names of the columns to add; the others are only listed. */
  readonly chosen: readonly string[]
}

interface Place extends ColumnPlace {
  readonly edits: readonly Edit[]
}

/** The lists of a config that name all columns which callers read and write. */
const columnLists = ['columns', 'write'] as const

/**
 * Adds columns of a table to the lists of its actions, and to the schemas of rows in the methods that use it and in the
 * events that only they dispatch. Where all columns are meant, nothing is missing. Schemas that something else uses too
 * are not changed: their places have a `problem`.
 */
export function addColumns(
  editing: Editing,
  { columns, known, chosen, ...table }: AddColumnsOptions,
): { readonly files: EditedFiles; readonly places: readonly ColumnPlace[] } {
  const work: Editing = { ...editing, files: new Map(editing.files) }
  listReached(work)
  const owners = findOwners(work, table)
  const { schemas, shared } = collectRowSchemas(work, listMethods(work, owners), table.classes)
  // Lists of required properties that the edits before have created.
  const created = new Set<string>()
  const found = columns.flatMap((column): readonly Place[] => {
    const inConfigs = owners.flatMap(({ config }) => findInConfig(work, config, column))
    const inSchemas = schemas.flatMap(({ of, ...one }) => {
      const problem = of === undefined ? undefined : shared.get(of)
      const isPlanned = problem === undefined && chosen.includes(column.name)
      const edits = planSchema(work, one, { column, known, created: isPlanned ? created : new Set() })
      const [first] = edits
      return first === undefined ? [] : [makePlace(work, one.at, { column, edits, problem, keys: first.keys })]
    })
    return [...inConfigs, ...inSchemas]
  })
  const places = found.map((place) => ({ ...place, problem: place.problem ?? findRefusal(editing, place) }))
  const edits = places.flatMap((place) =>
    chosen.includes(place.column) && place.problem === undefined ? place.edits : [],
  )
  return { files: editDefinition(editing, edits), places: places.map(({ edits: _, ...place }) => place) }
}

function findInConfig(work: Editing, config: At, column: AddedColumn): readonly Place[] {
  return columnLists.flatMap((key): readonly Place[] => {
    const list = stepInto(work, config, key)
    const value = list && toPlain(work, list.cursor)
    if (list === undefined || !Array.isArray(value) || value.includes(column.name)) return []
    return [makePlace(work, list, { column, edits: [{ keys: [...list.keys, '-'], value: column.name }] })]
  })
}

function makePlace(
  work: Editing,
  at: At,
  {
    column,
    edits,
    problem,
    keys = at.keys,
  }: Pick<Place, 'edits'> & {
    readonly column: AddedColumn
    readonly problem?: string | undefined
    readonly keys?: readonly string[]
  },
): Place {
  const { file, line } = placeOf(work, at.cursor)
  return {
    column: column.name,
    at: pointerTo(keys.at(-1) === '-' ? keys.slice(0, -1) : keys),
    source: `${file}:${line}`,
    problem,
    edits,
  }
}

/** Returns why the text of a place cannot be edited, for example because an anchor shares it. */
function findRefusal(editing: Editing, { edits }: Place): string | undefined {
  try {
    editDefinition(editing, edits)
    return undefined
  } catch (error) {
    if (error instanceof EditRefused) return error.reason
    throw error
  }
}

interface Wanted extends Pick<AddColumnsOptions, 'known'> {
  readonly column: AddedColumn
  readonly created: Set<string>
}

function planSchema(
  work: Editing,
  { at, part }: Pick<RowSchema, 'at' | 'part'>,
  { column, known, created }: Wanted,
): readonly Edit[] {
  const value = toPlain(work, at.cursor)
  const properties = isObject(value) ? value['properties'] : undefined
  if (part === 'parameters' || !isObject(value) || !isObject(properties)) return []
  const { name } = column
  if (!isRow(properties, [...known, name])) return []
  const list: readonly unknown[] = Array.isArray(value['required']) ? value['required'] : []
  const isMissing = !Object.hasOwn(properties, name)
  const isDemanded = needsValue(part, column, isMissing) && !list.includes(name)
  const own = properties[name]
  // Rows no longer have null.
  const isNullable = !isMissing && column.isRequired && part === 'request' && isObject(own) && allowsNull(own)
  const edits: Edit[] = []
  if (isMissing) edits.push({ keys: [...at.keys, 'properties', name], value: column.schema as WritableMap })
  else if (isNullable) edits.push({ keys: [...at.keys, 'properties', name, 'type'], value: withoutNull(own) })
  if (!isDemanded) return edits
  const required = [...at.keys, 'required']
  const isNew = list.length === 0 && !created.has(pointerTo(required))
  if (isNew) created.add(pointerTo(required))
  return [...edits, isNew ? { keys: required, value: [name] } : { keys: [...required, '-'], value: name }]
}

/** Whether an object has the columns of a row: several of them, or nothing else. */
function isRow(properties: Readonly<Record<string, unknown>>, known: readonly string[]): boolean {
  const names = Object.keys(properties)
  const count = names.filter((one) => known.includes(one)).length
  return count > 1 || (count > 0 && count === names.length)
}

/** Callers may leave out what the database fills in. What a row has, responses and events always contain. */
function needsValue(part: RowPart, { isAlwaysSet, isRequired }: AddedColumn, isMissing: boolean): boolean {
  if (part === 'patch') return false
  return part === 'request' ? isRequired : isAlwaysSet && isMissing
}

function allowsNull({ type }: Readonly<Record<string, unknown>>): boolean {
  return Array.isArray(type) && type.includes('null') && type.length > 1
}

function withoutNull({ type }: Readonly<Record<string, unknown>>): string | readonly string[] {
  const others = (type as readonly string[]).filter((one) => one !== 'null')
  return others.length === 1 ? others[0]! : others
}
