import type { SearchSnapshot, TableSnapshot } from '../contract/index.ts'
import { maxSearchColumns } from './search.ts'
import { isSameList, showList, type StepContext } from './step-context.ts'
import type { Step } from './steps.ts'

type SearchStep = Extract<Step, { readonly step: 'add_search' | 'drop_search' }>

export function searchOf({ columns, configuration }: SearchSnapshot): SearchSnapshot {
  return { columns, ...(configuration !== undefined && configuration !== 'simple' && { configuration }) }
}

/** Returns a table with the search of a step, and reports why it cannot have it. */
export function addSearch(step: SearchStep, table: TableSnapshot, { report, missing }: StepContext): TableSnapshot {
  const { table: name, columns } = step
  if (table.search !== undefined)
    report(
      [],
      `The table "${name}" already has a search`,
      `Drop it first: drop_search: { ${name}: ${show(table.search)} }`,
    )
  if (columns.length === 0) report([], `The search of "${name}" has no columns`)
  if (columns.length > maxSearchColumns) report([], `A search has at most ${maxSearchColumns} columns`)
  for (const column of columns) {
    const type = Object.hasOwn(table.columns, column) ? table.columns[column]!.type : undefined
    if (type !== undefined && type !== 'text' && type !== 'enum')
      report([], `"${column}" of "${name}" cannot be searched: it has the type ${type}`, 'Search columns of type text')
    if (type === undefined) missing([], `The table "${name}" has no column "${column}"`)
  }
  const repeated = columns.find((column, index) => columns.indexOf(column) !== index)
  if (repeated !== undefined) report([], `The column "${repeated}" is repeated`)
  return { ...table, search: searchOf(step) }
}

export function dropSearch(step: SearchStep, table: TableSnapshot, { missing }: StepContext): TableSnapshot {
  const { search, ...rest } = table
  const own = searchOf(step)
  const isSame = search !== undefined && isSameList(search.columns, own.columns)
  if (!isSame || search.configuration !== own.configuration)
    missing([], `The table "${step.table}" has no such search`, search && `Its search: ${show(search)}`)
  return rest
}

function show({ columns, configuration }: SearchSnapshot): string {
  if (configuration === undefined) return showList(columns)
  return `{ columns: ${showList(columns)}, configuration: ${configuration} }`
}

/** Returns the search after a change of the names of columns. A column without a name leaves it. */
export function changeSearch(
  search: SearchSnapshot | undefined,
  nameOf: (column: string) => string | undefined,
): SearchSnapshot | undefined {
  const columns = search?.columns.flatMap((column) => nameOf(column) ?? []) ?? []
  return search === undefined || columns.length === 0 ? undefined : { ...search, columns }
}
