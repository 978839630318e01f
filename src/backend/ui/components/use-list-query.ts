import { useNavigate, useSearch } from '@tanstack/react-router'
import { useRef } from 'react'

/** What a list asks the API for: filters by name, and these. */
export type ListQuery = Readonly<Record<string, string | undefined>> & {
  readonly sort?: string | undefined
  readonly cursor?: string | undefined
}

/** The state of a list, which is in the URL, so that it survives a reload and can be sent to others. */
export interface ListState {
  readonly query: ListQuery
  readonly isFiltered: boolean
  /** Whether the page before this one is known; a reload forgets it. */
  readonly hasPrevious: boolean
  /** Changes filters or the order, and goes back to the first page. */
  set(change: Readonly<Record<string, string>>): void
  clear(): void
  next(cursor: string): void
  /** Goes to the previous page, or to the first one if it is not known. */
  previous(): void
}

/** @param names the names of the filters */
export function useListQuery(names: readonly string[], defaultSort: string | undefined): ListState {
  const search: Readonly<Record<string, string | undefined>> = useSearch({ strict: false })
  const navigate = useNavigate()
  const visited = useRef<(string | undefined)[]>([])
  const go = (change: Readonly<Record<string, string | undefined>>, replace: boolean) =>
    // Of what the address is by then: a filter that is still being typed must not undo a change of the order.
    void navigate({
      to: '.',
      search: (current: typeof search) => ({ ...current, ...change }),
      replace,
      resetScroll: false,
    })
  const given = names.map((name) => [name, search[name]] as const)
  return {
    query: { ...Object.fromEntries(given), sort: search['sort'] ?? defaultSort, cursor: search['cursor'] },
    isFiltered: given.some(([, value]) => value !== undefined && value !== ''),
    hasPrevious: visited.current.length > 0,
    set(change) {
      visited.current = []
      go({ ...change, cursor: undefined }, true)
    },
    clear() {
      visited.current = []
      go({ ...Object.fromEntries(names.map((name) => [name, undefined])), cursor: undefined }, true)
    },
    next(cursor) {
      visited.current.push(search['cursor'])
      go({ cursor }, false)
    },
    previous: () => go({ cursor: visited.current.pop() }, false),
  }
}
