import type { ResolvedEmbed } from './embed/describe-embeds.ts'
import type { EmbedFilter, ListPlan } from './plan.ts'
import { listOperators, reservedNames } from './schemas.ts'
import { checkColumn, columnOf, type TableUse } from './table-use.ts'
import type { Writing } from './writing.ts'

/** Checks by which columns callers can filter a list: those of "filter", or the key and the first columns of indexes. */
export function resolveFilters(table: TableUse, { columns }: Writing): ListPlan['filters'] {
  const { config, key, report } = table
  const { columns: known, index = [], unique = [] } = table.table
  const reserved = reservedNames(config)
  const leading = new Set([...key, ...[...index, ...unique].flatMap((one) => one.slice(0, 1))])
  const isOwn = (name: string) => columnOf(table.table, name) !== undefined || embedOf(name, table) === undefined
  const listed = config.filter?.filter((name, position) => {
    const at = `/filter/${position}`
    if (!isOwn(name) || !checkColumn(name, table.table, report, at)) return false
    if (columns.includes(name) && !reserved.includes(name) && !name.includes('.')) return true
    const reason = columns.includes(name) ? 'a query parameter cannot have this name' : 'it is not in "columns"'
    report(at, `Lists cannot be filtered by "${name}": ${reason}`, { hint: 'Remove it' })
    return false
  })
  const possible = columns.filter((name) => leading.has(name) && !name.includes('.'))
  if (listed === undefined) warnAboutShadowed(possible, reserved, table)
  const names = listed ?? possible.filter((name) => !reserved.includes(name))
  const filters = names.map((name) => [name, listOperators(known[name]!, listed !== undefined)] as const)
  return Object.fromEntries(filters.filter(([, operators]) => operators.length > 0))
}

function warnAboutShadowed(names: readonly string[], reserved: readonly string[], { report }: TableUse): void {
  for (const name of names)
    if (reserved.includes(name))
      report('/columns', `"${name}" is a parameter of lists, so callers cannot filter by the column of this name`, {
        severity: 'warning',
        hint: 'Rename the column, or list the columns that callers can filter by in "filter"',
      })
}

/** Returns the name of the embed of a filter such as `author.name`. */
function embedOf(filter: string, { config }: TableUse): string | undefined {
  const [name = ''] = filter.split('.', 1)
  return filter.includes('.') && Object.hasOwn(config.embed ?? {}, name) ? name : undefined
}

/** Checks by which columns of the rows that they refer to callers can filter a list. */
export function resolveEmbedFilters(table: TableUse, embeds: readonly ResolvedEmbed[]): readonly EmbedFilter[] {
  const { config, report } = table
  return (config.filter ?? []).flatMap((filter, position): EmbedFilter[] => {
    const name = columnOf(table.table, filter) === undefined ? embedOf(filter, table) : undefined
    const embed = embeds.find(({ plan }) => plan.name === name)
    if (name === undefined || embed === undefined) return [] // reported with "filter" or "embed"
    const at = `/filter/${position}`
    const column = filter.slice(name.length + 1)
    const reason = findReason(column, embed)
    if (reason === undefined) return [{ embed: name, column }]
    report(at, `Lists cannot be filtered by "${filter}": ${reason}`, { hint: 'Remove it' })
    return []
  })
}

function findReason(column: string, { plan: { name, many, columns }, known }: ResolvedEmbed): string | undefined {
  if (many !== undefined) return `"${name}" is several rows`
  if (!columns.includes(column)) return `"${name}" has no column "${column}"`
  return listOperators(known[column]!, true).includes('eq') ? undefined : 'its values cannot be compared'
}
