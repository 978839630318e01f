import { listPathParameters } from '../../kit/index.ts'
import type { TableSnapshot } from '../../contract/index.ts'
import type { WritableMap } from '../../definition/index.ts'
import { GenerateRefused } from './generate.ts'
import type { SoftDelete, TableRequest } from './table-request.ts'

const createdNames = ['insert_date', 'inserted_at', 'created_at', 'create_date', 'created']
const changedNames = ['update_date', 'updated_at', 'change_date', 'changed_at', 'modified_at']

/** The config of an action `sql-table`. */
export interface TableActionConfig {
  readonly config: WritableMap
  /** The index that lists need and that the table lacks. */
  readonly index: readonly string[] | undefined
}

/** Returns the config of the action `sql-table` for a table. */
export function makeTableConfig(
  { connection, table: name, owner, openParents = [], softDelete, path }: TableRequest & { readonly path: string },
  table: TableSnapshot,
  order: readonly string[] = Object.keys(table.columns),
): TableActionConfig {
  const timeOf = (names: readonly string[]) => names.find((one) => table.columns[one]?.type === 'timestamp')
  const [created, changed] = [timeOf(createdNames), timeOf(changedNames)]
  const isVersioned = hasVersion(table)
  const { key = [] } = table
  const through = owner !== undefined && isReference(owner, table)
  const columns = [...new Set([...key, ...order, ...Object.keys(table.columns)])].filter(
    (column) => (column !== owner || through) && (table.columns[column]?.type ?? 'other') !== 'other',
  )
  const given = listPathParameters(path)
  const [existing = null, deleted = null] = softDelete === undefined ? [] : valuesOf(softDelete, table)
  const where: WritableMap = {
    ...Object.fromEntries(given.map((parameter) => [parameter, `$params.${parameter}`])),
    ...(softDelete && { [softDelete.column]: existing }),
  }
  const fixed = new Set([owner, ...Object.keys(where)])
  const computed = new Set([created, changed, isVersioned ? 'version' : undefined, ...Object.keys(where)])
  const write = chooseWritten(table, columns, { owner, computed })
  const config = {
    ...(connection === 'System' ? {} : { connection }),
    table: name,
    columns,
    ...(write && { write }),
    ...(owner === undefined ? {} : { owner: through ? { through: owner } : owner }),
    ...(openParents.length > 0 && { parents: Object.fromEntries(openParents.map((column) => [column, 'any'])) }),
    ...setTimes(created, changed),
    ...(Object.keys(where).length === 0 ? {} : { where }),
    ...(softDelete && { delete: { [softDelete.column]: deleted } }),
    ...(isVersioned && table.view === undefined ? { version: 'version' } : {}),
    ...sortBy(created, table, fixed),
    ...searchIn(table, columns),
  }
  const compared = [...fixed].filter((column) => column !== undefined)
  return { config, index: findMissingIndex(table, compared, created === undefined ? key : [created, ...key]) }
}

/** Returns the columns that callers write: undefined for all but the key, which callers choose if it is not generated. */
function chooseWritten(
  { columns: known, key = [], view }: TableSnapshot,
  columns: readonly string[],
  { owner, computed }: { readonly owner: string | undefined; readonly computed: ReadonlySet<string | undefined> },
): readonly string[] | undefined {
  const isGiven = (column: string) => {
    const { type, default: hasDefault, generated } = known[column]!
    return type !== 'id' && !hasDefault && !generated
  }
  if (view || !key.some((column) => column !== owner && isGiven(column))) return undefined
  return columns.filter((column) => !computed.has(column) && !known[column]!.generated)
}

function hasVersion({ columns }: TableSnapshot): boolean {
  return ['integer', 'bigint'].includes(columns['version']?.type ?? '')
}

/** A list in this order without an index would read the whole table. */
function sortBy(
  created: string | undefined,
  { key = [], index = [] }: TableSnapshot,
  fixed: ReadonlySet<string | undefined>,
): WritableMap {
  const isSorted = index.some((one) => one.find((column) => !fixed.has(column)) === created)
  return created === undefined || !isSorted ? {} : { sort: [created, ...key].map((column) => `-${column}`) }
}

/** Lists find words in the columns with an index for it, if callers see all of them. */
function searchIn({ search }: TableSnapshot, columns: readonly string[]): WritableMap {
  return search?.columns.every((column) => columns.includes(column)) === true ? { search: search.columns } : {}
}

function setTimes(created: string | undefined, changed: string | undefined): WritableMap {
  const now = '$now'
  return {
    ...(created && { set: { [created]: now, ...(changed && { [changed]: now }) } }),
    ...(changed && { set_on_update: { [changed]: now } }),
  }
}

/** Whether a column refers to a row with an owner instead of naming the owner itself. */
export function isReference(owner: string, { columns: known, references = [] }: TableSnapshot): boolean {
  const namesUser = ['text', 'uuid'].includes(known[owner]?.type ?? '') && /user|owner|account|author/i.test(owner)
  return !namesUser && references.some(({ columns }) => columns.length === 1 && columns[0] === owner)
}

/** Returns the index for lists that compare columns and sort by others, if the table lacks it. */
function findMissingIndex(
  { key = [], unique = [], index = [], view }: TableSnapshot,
  compared: readonly string[],
  sort: readonly string[],
): readonly string[] | undefined {
  const serves = (one: readonly string[]) => {
    const first = new Set(one.slice(0, compared.length))
    return compared.every((column) => first.has(column)) && one[compared.length] === sort[0]
  }
  const isServed = view || key.length === 0 || [key, ...unique, ...index].some(serves)
  return isServed ? undefined : [...new Set([...compared, ...sort])]
}

/** @throws GenerateRefused */
function valuesOf({ column, values }: SoftDelete, table: TableSnapshot): NonNullable<SoftDelete['values']> {
  if (values !== undefined) return values
  const { type, null: isNullable } = table.columns[column]!
  if (type === 'integer' || type === 'bigint') return [1, 0]
  if (type === 'boolean') return /delet|remov|archiv|hid/i.test(column) ? [false, true] : [true, false]
  if (type === 'timestamp' && isNullable) return [null, '$now']
  const problem = `The column "${column}" cannot mark deleted rows`
  throw new GenerateRefused({ problem, hint: 'Use an integer, a boolean, or a timestamp that may be null.' })
}
