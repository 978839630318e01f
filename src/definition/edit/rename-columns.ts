import { fillPath, listPathParameters } from '../../kit/index.ts'
import type { ClassCatalog } from '../class-catalog.ts'
import { findTablesInConfig, type ConfigName } from '../config-annotations.ts'
import { remove, renameKey, replaceText } from './change-entry.ts'
import { collectEdited, type EditedFiles } from './edit-definition.ts'
import { findOtherColumns, type Referring, type TableName } from './embedded-columns.ts'
import { childrenOf, linksOf, openFile, pointerTo, type Cursor, type Editing } from './editing.ts'
import { listReached } from './references.ts'
import { placeOf } from './find-value.ts'
import { walk } from './walk.ts'
import {
  childrenAt,
  configPlaces,
  findConfigSchema,
  listAnnotated,
  match,
  renameEntry,
  renameParameters,
  stepInto,
  type Annotated,
  type At,
  type Use,
} from './rename.ts'
import { isOwned, itemsAt, collectRowSchemas, placeText } from './row-schemas.ts'

/** A place that names a column of a table, or the table itself. */
export interface ColumnUse extends Use {
  /** Undefined for the table. */
  readonly column: string | undefined
  /** Why renaming does not change the place. */
  readonly problem: string | undefined
  /** Whether it is in a text such as SQL, and may mean something else. */
  readonly isGuess: boolean
}

export interface TableColumns {
  readonly connection: string
  readonly table: string
  /** The references of tables to this one, also of itself. */
  readonly referring?: readonly Referring[] | undefined
  /** The configs of all classes: they say what names a column. */
  readonly classes: ClassCatalog
}

/**
 * Renames and drops columns of a table in configs, in the schemas of methods that use the table, and in path parameters.
 * Texts with SQL and schemas that something else uses too are not changed: their uses have a `problem`. So have the uses of
 * dropped columns without which a config would mean something else; they have `isBlocking`.
 * @param columns the new name by column
 * @throws WP_DEFINITION_EDIT_REFUSED
 */
export function renameColumns(
  editing: Editing,
  {
    columns,
    dropped = [],
    ...table
  }: TableColumns & { readonly columns: ReadonlyMap<string, string>; readonly dropped?: readonly string[] },
): { readonly files: EditedFiles; readonly uses: readonly ColumnUse[]; readonly lost: readonly LostUse[] } {
  const work: Editing = { ...editing, files: new Map(editing.files) }
  const reached = listReached(work)
  // First, since a column may get the name of a dropped one.
  const lost = dropColumns(work, { ...table, columns: dropped })
  const found = findPlaces(work, { ...table, columns: [...columns.keys()] })
  const uses = found.map((place) => describeUse(work, place))
  const changed = found.filter(({ problem }) => problem === undefined)
  for (const { cursor, column, kind, prefix = '', suffix = '' } of changed)
    if (kind === 'text') replaceText(work, cursor, `${prefix}${columns.get(column!)!}${suffix}`)
  renameKeys(work, changed, columns)
  for (const route of new Set(changed.flatMap(({ route = [] }) => route))) {
    const to = fillPath(route, (name, isRest) => `${isRest ? '*' : ':'}${columns.get(name) ?? name}`)
    renameParameters(work, { name: route, to })
    renameEntry(work, ['routes', route], to)
  }
  return { files: collectEdited(editing, work, reached), uses, lost }
}

/** A place that names a dropped column. It is removed, or has a problem. */
export interface LostUse extends ColumnUse {
  /** Whether it must be changed before the column can be dropped. */
  readonly isBlocking: boolean
}

/** Maps of a config whose entries only give columns a value. Others, such as `where`, decide which rows exist. */
const valueMaps: readonly string[] = ['set', 'set_on_update']
/** What has no meaning without entries. An empty `write`, on the other hand, differs from none. */
const removedIfEmpty: ReadonlySet<string> = new Set([...valueMaps, 'sort', 'sortable', 'required'])

/** Removes what names columns, from the end of each file. */
function dropColumns(
  work: Editing,
  wanted: TableColumns & { readonly columns: readonly string[] },
): readonly LostUse[] {
  if (wanted.columns.length === 0) return []
  const found = findPlaces(work, wanted).map((place) => ({ place, blocking: findBlocking(place) }))
  const lost = found.map(({ place, blocking }) => {
    const use = describeUse(work, place)
    return { ...use, problem: use.problem ?? blocking, isBlocking: blocking !== undefined }
  })
  const removed = found.filter(({ place, blocking }) => place.problem === undefined && blocking === undefined)
  for (const { place } of removed.toSorted((a, b) => compareSteps(b.place.cursor, a.place.cursor))) {
    const { file, steps } = place.cursor
    const parent = { file, steps: steps.slice(0, -1) }
    const keys = place.keys.slice(0, -1)
    const isLast = childrenOf(linksOf(work, parent).at(-1)!.tree).length === 1
    const canGo = parent.steps.length > 0 && removedIfEmpty.has(keys.at(-1) ?? '')
    if (isLast && canGo) remove(work, parent, keys)
    else remove(work, place.cursor, place.keys)
  }
  return lost
}

/** Returns why a place of a dropped column cannot be removed; undefined if it can, or may stay. */
function findBlocking({ kind, keys, inConfig, cursor, problem }: Place): string | undefined {
  if (problem !== undefined) return undefined
  if (kind === 'route') return 'it is in the path of a route'
  if (inConfig !== true) return undefined
  const [owner = '', name = ''] = keys.slice(-2)
  const isItem = kind === 'text' && /^\d+$/.test(name) && cursor.steps.length > 0
  if (isItem && owner !== 'key') return undefined
  if (kind === 'key' && valueMaps.includes(owner)) return undefined
  return `"${isItem || kind === 'key' ? owner : name}" needs another column`
}

/** Compares places of files; what is inside of another place is after it. */
function compareSteps(one: Cursor, other: Cursor): number {
  if (one.file !== other.file) return one.file < other.file ? -1 : 1
  const index = one.steps.findIndex((step, at) => step !== other.steps[at])
  if (index === -1) return one.steps.length - other.steps.length
  return one.steps[index]! - (other.steps[index] ?? -1)
}

/** Two columns may exchange their names: then each gets a free one first. */
function renameKeys(work: Editing, places: readonly Place[], columns: ReadonlyMap<string, string>): void {
  const keys = places.filter(({ kind }) => kind === 'key')
  const isExchange = [...columns.values()].some((to) => columns.has(to))
  if (isExchange) for (const { cursor, column } of keys) renameKey(work, cursor, `${column} before`)
  for (const { cursor, column, suffix = '' } of keys) renameKey(work, cursor, `${columns.get(column!)!}${suffix}`)
}

/**
 * Returns the places that name columns of a table.
 * @param columns by default those that name the table
 */
export function findColumnUses(
  editing: Editing,
  table: TableColumns & { readonly columns?: readonly string[] | undefined },
): readonly ColumnUse[] {
  return findPlaces(editing, table).map((place) => describeUse(editing, place))
}

interface Place {
  readonly column: string | undefined
  readonly cursor: Cursor
  readonly keys: readonly string[]
  /** `route`: a parameter in the path of a route. */
  readonly kind: 'text' | 'key' | 'route'
  readonly prefix?: string
  readonly suffix?: string
  readonly route?: string
  readonly problem?: string
  readonly line?: number
  /** Whether it is a name in a config; the others are in schemas and paths. */
  readonly inConfig?: boolean
}

function describeUse(work: Editing, { column, cursor, keys, problem, line }: Place): ColumnUse {
  const place = placeOf(work, cursor)
  const source = `${place.file}:${line ?? place.line}`
  return { column, at: pointerTo(keys), source, problem, isGuess: line !== undefined }
}

type Wanted = TableColumns & { readonly columns?: readonly string[] | undefined }

function findPlaces(work: Editing, wanted: Wanted): readonly Place[] {
  const { columns } = wanted
  const configs = listConfigs(work, wanted.classes)
  const tables = listActionTables(configs)
  const found = configs.flatMap(({ config, names }) => {
    const own = findInConfig(names, config, wanted)
    const ownTables = tablesIn(names, config)
    const others = findOtherColumns(names, wanted, { tableOf: (action) => tables.get(action), ownTables })
    const inOthers = others.map(({ of, ...rest }) => toPlace(of, rest))
    return [
      ...[...own, ...inOthers].filter(({ column }) => columns?.includes(column!) ?? column === undefined),
      ...findInTexts(work, config, { names, wanted }),
    ]
  })
  if (columns === undefined) return distinct(found)
  const methods = listMethods(work, findOwners(work, wanted))
  const inSchemas = findInSchemas(work, methods, { columns, classes: wanted.classes })
  return distinct([...found, ...inSchemas, ...findInPaths(work, methods, columns)])
}

/** The config of a class. */
interface Config {
  readonly owner: At
  readonly config: At
  /** What it names. */
  readonly names: readonly Annotated[]
}

function listConfigs(work: Editing, classes: ClassCatalog): readonly Config[] {
  return configPlaces.flatMap(([pattern, of]) =>
    match(work, pattern).flatMap((owner) => {
      const schema = findConfigSchema(work, owner, { of, classes })
      const config = stepInto(work, owner, 'config')
      return schema === undefined || config === undefined
        ? []
        : [{ owner, config, names: listAnnotated(work, config, schema) }]
    }),
  )
}

/** Returns the table of each action. */
function listActionTables(configs: readonly Config[]): ReadonlyMap<string, TableName> {
  return new Map(
    configs.flatMap(({ owner: { keys }, names, config }) => {
      const [found] = keys[0] === 'action' && keys.length === 2 ? tablesIn(names, config) : []
      return found === undefined ? [] : [[keys[1]!, found] as const]
    }),
  )
}

/** Returns the configs that name a table. */
export function findOwners(work: Editing, table: TableColumns): readonly Config[] {
  return listConfigs(work, table.classes).filter(({ config, names }) => findInConfig(names, config, table).length > 0)
}

/** Returns the methods that have one of the actions. */
export function listMethods(work: Editing, owners: readonly Config[]): readonly At[] {
  const own = new Set(owners.map(({ owner }) => pointerTo(owner.keys)))
  return match(work, 'routes/*/methods/*').filter((method) => isOwned(work, method, own))
}

function distinct(places: readonly Place[]): readonly Place[] {
  return [...new Map(places.map((one) => [`${one.kind} ${one.column} ${placeText(one.cursor)}`, one])).values()]
}

interface NamedPart extends ConfigName {
  readonly of: Annotated
  readonly prefix: string
}

function tablesIn(names: readonly Annotated[], config: At): readonly TableName[] {
  return findTablesInConfig(toParts(names, config)).map(({ connection, table }) => ({ connection, table: table.name }))
}

function toParts(names: readonly Annotated[], config: At): readonly NamedPart[] {
  return names.map((of): NamedPart => {
    const isSort = of.names === 'sort'
    const prefix = isSort && of.name.startsWith('-') ? '-' : ''
    const at = pointerTo(of.keys.slice(config.keys.length))
    const isColumn = isSort || (of.names === 'filter' && !of.name.includes('.'))
    return { names: isColumn ? 'column' : of.names, name: of.name.slice(prefix.length), at, of, prefix }
  })
}

/** Returns the names of the table in a config, and of all its columns. */
function findInConfig(names: readonly Annotated[], config: At, { connection, table }: Wanted): readonly Place[] {
  return findTablesInConfig(toParts(names, config)).flatMap((one): readonly Place[] => {
    if (one.connection !== connection || one.table.name !== table) return []
    const columns = one.columns.map(({ name, of, prefix }) => toPlace(of, { column: name, prefix }))
    return [toPlace(one.table.of, { column: undefined }), ...columns]
  })
}

function toPlace({ cursor, keys, isKey }: Annotated, rest: Pick<Place, 'column' | 'prefix'>): Place {
  return { cursor, keys, inConfig: true, kind: isKey ? 'key' : 'text', ...rest }
}

/** Returns the texts of a config, such as SQL, that contain the table and a column as words. */
function findInTexts(
  work: Editing,
  config: At,
  { names, wanted }: { readonly names: readonly Annotated[]; readonly wanted: Wanted },
): readonly Place[] {
  const { connection, table, columns = [undefined] } = wanted
  const known = new Set(names.map((one) => placeText(one.cursor)))
  const used = names.find((one) => one.names === 'connection')?.name ?? 'System'
  if (used !== connection) return []
  const found: Place[] = []
  const visit = (at: At): void => {
    if (at.tree.kind !== 'scalar' || typeof at.tree.value !== 'string') {
      for (const child of childrenAt(work, at)) visit(child)
      return
    }
    const text = at.tree.value
    if (known.has(placeText(at.cursor)) || !/\s/.test(text) || !wordOf(table).test(text)) return
    for (const column of columns) {
      const word = wordOf(column ?? table)
      if (!word.test(text)) continue
      const problem = 'SQL is not changed automatically'
      found.push({ column, cursor: at.cursor, keys: at.keys, kind: 'text', problem, line: lineOf(work, at, word) })
    }
  }
  visit(config)
  return found
}

function wordOf(name: string): RegExp {
  return new RegExp(`(?<![\\w$])${name.replaceAll(/[^\w]/g, '\\$&')}(?![\\w$])`, 'i')
}

/** Returns the line of a word in a value. */
function lineOf(work: Editing, { cursor }: At, word: RegExp): number {
  const links = linksOf(work, cursor)
  const { text } = openFile(work, cursor.file)!
  const { start } = links.at(-1)!
  const end = links.length === 1 ? text.length : links.at(-2)!.start + links.at(-1)!.tree.end
  const index = Math.max(text.slice(start, end).search(word), 0)
  return text.slice(0, start + index).split('\n').length
}

interface SchemaSearch {
  readonly columns: readonly string[]
  readonly classes: TableColumns['classes']
}

/** Returns the columns in the schemas of methods and of the events that they dispatch. */
function findInSchemas(work: Editing, methods: readonly At[], { columns, classes }: SchemaSearch): readonly Place[] {
  const found: (Place & { readonly of?: string | undefined })[] = []
  const addKeys = (at: At | undefined, of?: string): void => {
    if (at?.tree.kind !== 'map') return
    for (const [index, { key }] of at.tree.entries.entries()) {
      const column = columns.find((one) => key === one || key.startsWith(`${one}.`))
      if (column === undefined) continue
      const cursor = { file: at.cursor.file, steps: [...at.cursor.steps, index] }
      found.push({ column, cursor, keys: [...at.keys, key], kind: 'key', suffix: key.slice(column.length), of })
    }
  }
  const addTexts = (at: At | undefined, of?: string): void => {
    for (const { tree, cursor, keys } of itemsAt(work, at))
      if (tree.kind === 'scalar' && columns.includes(String(tree.value)))
        found.push({ column: String(tree.value), cursor, keys, kind: 'text', of })
  }
  const { schemas, shared } = collectRowSchemas(work, methods, classes)
  for (const { at, of } of schemas) {
    for (const key of ['properties', 'default', 'example']) addKeys(stepInto(work, at, key), of)
    for (const one of itemsAt(work, stepInto(work, at, 'examples'))) addKeys(one, of)
    addTexts(stepInto(work, at, 'required'), of)
  }
  for (const method of methods) {
    addKeys(stepInto(work, method, 'parameters'))
    const dispatch = stepInto(work, method, 'dispatch')
    addTexts(dispatch && stepInto(work, dispatch, 'data'))
  }
  return found.map(({ of, ...place }) => {
    const problem = of === undefined ? undefined : shared.get(of)
    return problem === undefined ? place : { ...place, problem }
  })
}

/** Returns the path parameters that are named after a key column. */
function findInPaths(work: Editing, methods: readonly At[], columns: readonly string[]): readonly Place[] {
  const routes = [...new Set(methods.map(({ keys }) => keys[1]!))]
  return routes.flatMap((route) => {
    const own = methods.filter(({ keys }) => keys[1] === route)
    const parameters = new Set(listPathParameters(route))
    return columns.flatMap((column): readonly Place[] => {
      if (!parameters.has(column) || own.some((method) => isUsedParameter(work, method, column))) return []
      const all = match(work, 'routes/*/methods/*').filter(({ keys }) => keys[1] === route)
      const { cursor, keys } = walk(work, ['routes', route])
      const isInGroup = !listPathParameters(keys.at(-1)!).includes(column)
      const problem = isInGroup
        ? 'the path of its group contains the parameter'
        : all.length > own.length
          ? 'other methods of the route use the parameter'
          : undefined
      return [{ column, cursor, keys: ['routes', route], kind: 'route', route, ...(problem && { problem }) }]
    })
  })
}

/** Whether the config of a method takes a parameter by its name. */
function isUsedParameter(work: Editing, method: At, name: string): boolean {
  const action = stepInto(work, method, 'action')
  const used = action?.tree.kind === 'scalar' ? ['action', String(action.tree.value)] : undefined
  const owner = used === undefined ? action : match(work, 'action/*').find(({ keys }) => keys[1] === used[1])
  const contains = (at: At): boolean =>
    at.tree.kind === 'scalar' ? at.tree.value === `$params.${name}` : childrenAt(work, at).some(contains)
  return owner !== undefined && contains(owner)
}
