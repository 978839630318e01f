import type { ListPage } from './data-table.tsx'
import type { ListQuery } from './use-list-query.ts'

interface LocalList<Row> {
  /** What a search looks at. */
  textOf(row: Row): string
  /** Other filters by name: whether a row fits a value. */
  readonly filters?: Readonly<Record<string, (row: Row, value: string) => boolean>>
  /** The values to sort by, by the names of columns. */
  readonly sorts?: Readonly<Record<string, (row: Row) => string | number>>
}

/** Rows of a page: browsers need seconds to lay out a table of a thousand. */
const pageSize = 100

/** Filters, sorts and pages a list that is loaded as a whole, as the admin API does with others. */
export function listLocally<Row>(
  rows: readonly Row[],
  query: ListQuery,
  { textOf, filters = {}, sorts = {} }: LocalList<Row>,
): ListPage<Row> {
  const words = (query['search'] ?? '').toLowerCase().split(/\s+/).filter(Boolean)
  const given = Object.entries(filters).flatMap(([name, fits]) => {
    const value = query[name]
    return value === undefined || value === '' ? [] : [(row: Row) => fits(row, value)]
  })
  const found = rows.filter((row) => {
    const text = words.length === 0 ? '' : textOf(row).toLowerCase()
    return words.every((word) => text.includes(word)) && given.every((fits) => fits(row))
  })
  const sort = query.sort ?? ''
  const valueOf = sorts[sort.replace(/^-/, '')]
  if (valueOf === undefined) return pageOf(found, query)
  const sign = sort.startsWith('-') ? -1 : 1
  const sorted = found.toSorted((a, b) => {
    const [first, second] = [valueOf(a), valueOf(b)]
    return first === second ? 0 : first < second ? -sign : sign
  })
  return pageOf(sorted, query)
}

/** The cursor is the number of rows before the page. */
function pageOf<Row>(rows: readonly Row[], { cursor }: ListQuery): ListPage<Row> {
  const start = /^\d{1,9}$/.test(cursor ?? '') ? Number(cursor) : 0
  const end = start + pageSize
  return { entry: rows.slice(start, end), next: end < rows.length ? String(end) : null }
}
