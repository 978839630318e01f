import type { TableSnapshot } from '../../contract/index.ts'
import type { WritableMap } from '../../definition/index.ts'
import { GenerateRefused } from './generate.ts'
import type { SoftDelete, TableRequest } from './table-request.ts'

const createdNames = ['insert_date', 'inserted_at', 'created_at', 'create_date', 'created']
const changedNames = ['update_date', 'updated_at', 'change_date', 'changed_at', 'modified_at']

/** The config of an action `sql-table`. */
export interface PlannedConfig {
  readonly config: WritableMap
  /** The index that lists need and that the table lacks. */
  readonly index: readonly string[] | undefined
}

/** Returns the config of the action `sql-table` for a table. */
export function makeTableConfig(
  { connection, table: name, owner, openParents = [], softDelete, path }: TableRequest & { readonly path: string },
  table: TableSnapshot,
  order: readonly string[] = Object.keys(table.columns),
): PlannedConfig {
  const timeOf = (names: readonly string[]) => names.find((one) => table.columns[one]?.type === 'timestamp')
  const [created, changed] = [timeOf(createdNames), timeOf(changedNames)]
  const isVersioned = ['integer', 'bigint'].includes(table.columns['version']?.type ?? '')
  const { key = [], index = [] } = table
  const through = owner !== undefined && isReference(owner, table)
  const columns = [...new Set([...key, ...order, ...Object.keys(table.columns)])].filter(
    (column) => (column !== owner || through) && (table.columns[column]?.type ?? 'other') !== 'other',
  )
  const given = [...path.matchAll(/:(\w+)/g)].map(([, parameter]) => parameter!)
  const [existing, deleted] = softDelete === undefined ? [] : valuesOf(softDelete, table)
  const where: WritableMap = {
    ...Object.fromEntries(given.map((parameter) => [parameter, `$params.${parameter}`])),
    ...(softDelete && { [softDelete.column]: existing ?? null }),
  }
  const now = '$now'
  // A list in this order without an index would read the whole table.
  const fixed = new Set([owner, ...Object.keys(where)])
  const isSorted = index.some((one) => one.find((column) => !fixed.has(column)) === created)
  const isGiven = (column: string) => {
    const { type, default: hasDefault, generated } = table.columns[column]!
    return type !== 'id' && !hasDefault && !generated
  }
  const computed = new Set([created, changed, isVersioned ? 'version' : undefined, ...Object.keys(where)])
  // Callers of a table whose key is not generated choose it.
  const write = key.some((column) => column !== owner && isGiven(column))
    ? columns.filter((column) => !computed.has(column) && !table.columns[column]!.generated)
    : undefined
  const config = {
    ...(connection === 'System' ? {} : { connection }),
    table: name,
    columns,
    ...(write === undefined || table.view ? {} : { write }),
    ...(owner === undefined ? {} : { owner: through ? { through: owner } : owner }),
    ...(openParents.length > 0 && { parents: Object.fromEntries(openParents.map((column) => [column, 'any'])) }),
    ...(created === undefined ? {} : { set: { [created]: now, ...(changed && { [changed]: now }) } }),
    ...(changed === undefined ? {} : { set_on_update: { [changed]: now } }),
    ...(Object.keys(where).length === 0 ? {} : { where }),
    ...(softDelete && { delete: { [softDelete.column]: deleted ?? null } }),
    ...(isVersioned && table.view === undefined ? { version: 'version' } : {}),
    ...(created === undefined || !isSorted ? {} : { sort: [`-${created}`, ...key.map((one) => `-${one}`)] }),
  }
  const compared = [...fixed].filter((column) => column !== undefined)
  return { config, index: findMissingIndex(table, compared, created === undefined ? key : [created, ...key]) }
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
