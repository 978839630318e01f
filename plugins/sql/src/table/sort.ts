import type { SortTerm, TablePlan } from './plan.ts'

export const maxSortTerms = 3

export function parseSortTerm(text: string): SortTerm {
  return text.startsWith('-') ? { column: text.slice(1), descending: true } : { column: text, descending: false }
}

/** Completes an order with the columns that make it unique, in the direction of its last column. */
export function completeSort(sort: readonly SortTerm[], unique: readonly string[]): readonly SortTerm[] {
  const descending = sort.at(-1)?.descending ?? false
  const missing = unique.filter((name) => sort.every(({ column }) => column !== name))
  return [...sort, ...missing.map((column) => ({ column, descending }))]
}

/** Parses the query parameter `sort`. @returns the problem if it is not valid */
export function parseSort(text: string, { list }: TablePlan): readonly SortTerm[] | string {
  const { sortable } = list!
  const terms = text.split(',').map(parseSortTerm)
  const unknown = terms.find(({ column }) => !sortable.includes(column))
  if (unknown !== undefined)
    return `"sort" has the unknown column "${unknown.column}". Possible: ${sortable.join(', ')}`
  if (terms.length > maxSortTerms) return `"sort" must have at most ${maxSortTerms} columns`
  const isRepeated = new Set(terms.map(({ column }) => column)).size < terms.length
  return isRepeated ? '"sort" contains a column twice' : terms
}
