import type { ListPlan, SortTerm } from './plan.ts'
import { listOperators, reservedParameters } from './schemas.ts'
import { completeSort, parseSortTerm } from './sort.ts'
import { checkColumn, checkForm, columnOf, type TableUse } from './table-use.ts'
import type { Writing } from './writing.ts'

/** Checks how a config sorts and filters lists. */
export function resolveListing(
  table: TableUse,
  writing: Writing,
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
  const plan = { sort, sortable, unique, filters: resolveFilters(table, writing), limit }
  const isMixed = new Set(sort.map(({ descending }) => descending)).size > 1 // an index has one direction
  return { list: plan, scans: !hasIndex(table, writing, plan) || isMixed }
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
  if (!checkColumn(name, table, report, at) || !checkForm(name, table, report, at)) return false
  if (!columns.includes(name)) {
    report(at, `Lists cannot be sorted by "${name}", which is not in "columns"`, { hint: `Add it to "columns"` })
    return false
  }
  if (columnOf(table, name)!.type !== 'json') return true
  report(at, `Lists cannot be sorted by "${name}", because it contains JSON`)
  return false
}

function resolveFilters(table: TableUse, { columns }: Writing): ListPlan['filters'] {
  const { config, report, key } = table
  const { columns: known, index = [], unique = [] } = table.table
  const isClear = (name: string) => !reservedParameters.includes(name) && !name.includes('.')
  const leading = new Set([...key, ...[...index, ...unique].flatMap((one) => one.slice(0, 1))])
  const listed = config.filter?.filter((name, position) => {
    const at = `/filter/${position}`
    if (!checkColumn(name, table.table, report, at) || !checkForm(name, table.table, report, at)) return false
    if (columns.includes(name) && isClear(name)) return true
    const reason = columns.includes(name) ? 'a query parameter cannot have this name' : 'it is not in "columns"'
    report(at, `Lists cannot be filtered by "${name}": ${reason}`, { hint: 'Remove it' })
    return false
  })
  const names = listed ?? columns.filter((name) => leading.has(name) && isClear(name) && known[name]!.form !== 'mixed')
  const filters = names.map((name) => [name, listOperators(known[name]!, listed !== undefined)] as const)
  return Object.fromEntries(filters.filter(([, operators]) => operators.length > 0))
}

/**
 * Whether an index has the columns that all requests compare, followed by those of the order; otherwise warns. The columns
 * that complete the order may be missing: few rows are equal in all others.
 */
function hasIndex({ table, config, key, report }: TableUse, writing: Writing, plan: ListPlan): boolean {
  if (table.view) return false
  const compared = [...new Set([...Object.keys(writing.where), ...(writing.owner ? [writing.owner.column] : [])])]
  const sort = (plan.sort.length === 0 ? completeSort([], plan.unique) : plan.sort).map(({ column }) => column)
  const indexes = [key, ...(table.unique ?? []), ...(table.index ?? [])]
  const serves = (index: readonly string[]) => {
    const before = new Set(index.slice(0, compared.length))
    const isFull = compared.every((name) => before.has(name))
    // The rows of a user are those of several parents, so they are sorted after they were found.
    if (isFull && writing.owner?.parent !== undefined && !Object.hasOwn(writing.where, writing.owner.column))
      return true
    return isFull && sort.every((name, position) => index[compared.length + position] === name)
  }
  if (indexes.some(serves)) return true
  const needed = [...new Set([...compared, ...sort, ...plan.unique])].join(', ')
  report('/table', `No index of "${config.table}" serves this list, so each request reads many rows`, {
    severity: 'warning',
    hint: `Add an index: [${needed}]`,
  })
  return false
}
