import type { TableSnapshot } from 'waypost'
import type { ResolvedEmbed } from './embed/describe-embeds.ts'
import { resolveEmbedFilters, resolveFilters } from './filters.ts'
import { toTyped, type ListPlan, type SortTerm } from './plan.ts'
import { resolveSearch } from './search/search-plan.ts'
import { completeSort, parseSortTerm } from './sort.ts'
import { checkColumn, columnOf, type TableUse } from './table-use.ts'
import { writeCompared } from './time-form.ts'
import { valueTypes } from './value-types.ts'
import type { Writing } from './writing.ts'

/** Checks how a config sorts and filters lists. */
export function resolveListing(
  table: TableUse,
  writing: Writing,
  embeds: readonly ResolvedEmbed[],
): { readonly list: ListPlan; readonly scans: boolean } {
  const { config, key, report } = table
  const sort = (config.sort ?? []).flatMap((text, index): SortTerm[] => {
    const term = parseSortTerm(text)
    return checkSortable(table, writing, { name: term.column, at: `/sort/${index}` }) ? [term] : []
  })
  const sortable = (config.sortable ?? []).filter((name, index) =>
    checkSortable(table, writing, { name, at: `/sortable/${index}` }),
  )
  const { max = 100, max_bytes: bytes } = config.limit ?? {}
  const { default: normal = Math.min(16, max) } = config.limit ?? {}
  if (normal > max) report('/limit/default', `The default limit ${normal} is higher than the maximum ${max}`)
  const unique = key.filter((name) => !isFixed(name, writing))
  for (const name of unique) {
    if (writing.columns.includes(name)) continue
    report('/columns', `Lists need the key column "${name}", because "next" contains it`, { hint: 'Add it' })
  }
  const limit = { default: normal, max, ...(bytes !== undefined && { bytes }) }
  const filters = resolveFilters(table, writing)
  const embedded = resolveEmbedFilters(table, embeds)
  const any = config.filter !== undefined && Object.keys(filters).length + embedded.length > 0
  const search = resolveSearch(table, writing)
  const plan = {
    sort,
    sortable,
    unique,
    filters,
    ...(embedded.length > 0 && { embedded }),
    ...(any && { any }),
    ...(search && { search }),
    limit,
  }
  const isMixed = new Set(sort.map(({ descending }) => descending)).size > 1 // an index has one direction
  return { list: plan, scans: !hasIndex(table, writing, { plan, embeds }) || isMixed }
}

/** Whether all rows that a caller sees have the same value in a column. */
function isFixed(name: string, { where, owner }: Writing): boolean {
  return (
    Object.hasOwn(where, name) || (owner?.column === name && owner.unless === undefined && owner.parent === undefined)
  )
}

interface Place {
  readonly name: string
  readonly at: string
}

function checkSortable({ table, report }: TableUse, { columns }: Writing, { name, at }: Place): boolean {
  if (!checkColumn(name, table, report, at)) return false
  if (!columns.includes(name)) {
    report(at, `Lists cannot be sorted by "${name}", which is not in "columns"`, { hint: `Add it to "columns"` })
    return false
  }
  const typed = toTyped(columnOf(table, name)!)
  const { type, as = type } = typed
  if (valueTypes[type].comparison(typed) !== 'none') return true
  report(
    at,
    `Lists cannot be sorted by "${name}", ${type === 'json' ? 'because it contains JSON' : `whose values of the type ${as} have no order`}`,
  )
  return false
}

/** Rows that a list reads, and in which order, as an index must have them. */
interface Reading {
  readonly at: string
  /** What reads them, for the message. */
  readonly what: string
  /** The columns with one value for each request, in any order at the beginning of the index. */
  readonly compared: readonly string[]
  /** The columns that follow. */
  readonly sort: readonly string[]
  /** The columns of which one must be in `unindexed` to accept that no index serves it. */
  readonly names: readonly string[]
}

interface Filtered {
  readonly plan: ListPlan
  readonly embeds: readonly ResolvedEmbed[]
}

/** Returns the column of this table that a filter compares: of `author.name` the one that refers to the author. */
function comparedBy(filter: string, embeds: readonly ResolvedEmbed[]): string {
  const embed = embeds.find(({ plan }) => filter.startsWith(`${plan.name}.`))
  return embed?.plan.own ?? filter
}

/**
 * Whether an index has the columns that all requests compare, followed by those of the order; otherwise warns. The columns
 * that complete the order may be missing: few rows are equal in all others. Also warns about the orders and filters that
 * callers choose.
 */
function hasIndex(table: TableUse, writing: Writing, { plan, embeds }: Filtered): boolean {
  if (table.table.view) return false
  const { config } = table
  const { owner } = writing
  const fixed = Object.keys(writing.where)
  const own = [...new Set([...fixed, ...(owner ? [owner.column] : [])])]
  const sort = (plan.sort.length === 0 ? completeSort([], plan.unique) : plan.sort).map(({ column }) => column)
  const what = 'this list'
  const [at, names] = ['/table', sort.slice(0, 1)]
  const list: Reading = { at, what, compared: own, sort, names }
  const readings = [
    ...(owner?.unless === undefined || owner.parent !== undefined
      ? []
      : [{ ...list, what: `${what} for callers with the scope "${owner.unless}"`, compared: fixed }]),
    ...plan.sortable.map((name, index) => ({
      at: `/sortable/${index}`,
      what: `${what} with ?sort=${name}`,
      compared: own,
      sort: [name],
      names: [name],
    })),
    // By default, callers filter by the first columns of indexes.
    ...(config.filter ?? []).map((name, index) => ({
      at: `/filter/${index}`,
      what: `${what} with ?${name}=`,
      compared: [...new Set([...own, comparedBy(name, embeds)])],
      sort: [],
      names: [name],
    })),
  ]
  const isServed = isReadingServed(table, writing, list)
  const missing = [...(isServed ? [] : [list]), ...readings.filter((one) => !isReadingServed(table, writing, one))]
  checkUnindexed(table, missing)
  for (const one of missing) if (!one.names.some((name) => isAccepted(table, name))) warnAboutScan(table, plan, one)
  return isServed
}

function isReadingServed({ table, key }: TableUse, { owner, where }: Writing, { compared, sort }: Reading): boolean {
  const isConverted = (name: string) => isComparedConverted(table, name)
  const unique = [key, ...(table.unique ?? [])].filter((columns) => columns.length > 0 && !columns.some(isConverted))
  if (unique.some((columns) => columns.every((name) => compared.includes(name)))) return true
  return [key, ...(table.unique ?? []), ...(table.index ?? [])].some((all) => {
    const converted = all.findIndex(isConverted)
    const index = converted === -1 ? all : all.slice(0, converted)
    const before = new Set(index.slice(0, compared.length))
    const isFull = compared.every((name) => before.has(name))
    // The rows of a user are those of several parents, so they are sorted after they were found.
    if (isFull && owner?.parent !== undefined && !Object.hasOwn(where, owner.column)) return true
    return isFull && sort.every((name, position) => index[compared.length + position] === name)
  })
}

/** Whether times are converted before they are compared and sorted, which no index serves. */
function isComparedConverted(table: TableSnapshot, name: string): boolean {
  const column = columnOf(table, name)
  return column !== undefined && writeCompared(column, name) !== name
}

function isAccepted({ config }: TableUse, name: string): boolean {
  return config.unindexed?.includes(name) === true
}

function checkUnindexed({ config, table, report }: TableUse, missing: readonly Reading[]): void {
  for (const [index, name] of (config.unindexed ?? []).entries()) {
    const at = `/unindexed/${index}`
    if (missing.some(({ names }) => names.includes(name))) continue
    if (!config.filter?.includes(name) && !checkColumn(name, table, report, at)) continue
    report(at, `Indexes serve all lists that are sorted or filtered by "${name}"`, {
      severity: 'warning',
      hint: 'Remove it',
    })
  }
}

function warnAboutScan(
  { config, table, report }: TableUse,
  { unique }: ListPlan,
  { at, what, ...reading }: Reading,
): void {
  const { compared, sort, names } = reading
  const needed = [...new Set([...compared, ...sort, ...(sort.length === 0 ? [] : unique)])]
  const accept = `unindexed: [${names.join(', ')}]`
  const converted = needed.find((name) => isComparedConverted(table, name))
  report(at, `No index of "${config.table}" serves ${what}, so each request reads many rows`, {
    severity: 'warning',
    hint:
      converted === undefined
        ? `Add an index: [${needed.join(', ')}], or accept it: ${accept}`
        : `The times in "${converted}" are converted to compare them. Change the rows to one form, or accept it: ${accept}`,
  })
}
