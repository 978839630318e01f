import type { Context, DatabaseKind } from 'waypost'
import type { TablePlan } from '../plan.ts'
import { parseSearch, writeMatch, writeTsquery } from './parse-search.ts'
import { maxRanked, maxSearchTerms } from './search-plan.ts'

/** What a statement does with the text of a search: rows match it, or must not match it. Without words, it finds none. */
export type SearchUse = 'match' | 'exclude' | 'none'

export interface GivenSearch {
  /** Undefined if nothing is searched. */
  readonly use?: SearchUse
  /** The query in the language of the database. */
  readonly text?: string
  readonly isRanked: boolean
  /** What identifies the search among the filters. */
  readonly key: readonly unknown[]
}

const noSearch: GivenSearch = { isRanked: false, key: [] }

type Query = Readonly<Record<string, unknown>>

/** Returns a function that reads the search of a request. @throws a problem with status 400 */
export function makeSearchReader(
  { list }: TablePlan,
  kind: DatabaseKind,
): (query: Query, context: Context) => GivenSearch {
  const { search } = list!
  if (search === undefined) return () => noSearch
  const { letters = '' } = search
  const write = kind === 'sqlite' ? writeMatch : writeTsquery
  return (query, context) => {
    const { q = '', rank: isRanked = false } = query as { readonly q?: string; readonly rank?: boolean }
    const isBlank = q.trim() === ''
    if (isRanked) assertRankable({ query, isBlank, kind }, context)
    if (isBlank) return noSearch
    const terms = parseSearch(q)
    if (terms.length > maxSearchTerms) throw context.problem(400, `"q" must have at most ${maxSearchTerms} words`)
    const isExcluding = kind === 'sqlite' && terms.every(({ isExcluded }) => isExcluded)
    const use = terms.length === 0 ? 'none' : isExcluding ? 'exclude' : 'match'
    const text = write(terms, letters)
    return { use, text, isRanked, key: [['q', text]] }
  }
}

interface RankUse {
  readonly query: Query
  readonly isBlank: boolean
  readonly kind: DatabaseKind
}

/** On SQLite, the rank of a row depends on all rows, also on those that the caller must not know of. */
function assertRankable({ query, isBlank, kind }: RankUse, context: Context): void {
  if (kind === 'sqlite') throw context.problem(400, '"rank" is only available on PostgreSQL')
  if (isBlank) throw context.problem(400, '"rank" needs "q"')
  const other = ['sort', 'after'].find((name) => query[name] !== undefined)
  if (other !== undefined) throw context.problem(400, `"rank" and "${other}" cannot be combined`)
}

/** How many rows a page has. */
export function limitRanked(limit: number, { isRanked }: GivenSearch): number {
  return isRanked ? Math.min(limit, maxRanked) : limit
}
