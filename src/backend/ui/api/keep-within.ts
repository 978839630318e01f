import type { QueryClient } from '@tanstack/react-query'

interface Keyed {
  readonly queryKey: readonly unknown[]
}

/**
 * Keeps the data of the query before while the next one loads, if both keys begin like this: data of another thing is not
 * shown under its name.
 */
export function keepWithin(
  start: readonly unknown[],
): <Data>(last: Data | undefined, query: Keyed | undefined) => Data | undefined {
  const isSame = (query: Keyed | undefined) => start.every((part, index) => query?.queryKey[index] === part)
  return (last, query) => (isSame(query) ? last : undefined)
}

/**
 * Whether what a query has loaded is known to be outdated, and the next is loading.
 * @param isFetching of the query, so that the component renders when that changes
 */
export function isReplaced(queries: QueryClient, queryKey: readonly unknown[], isFetching: boolean): boolean {
  return isFetching && queries.getQueryState(queryKey)?.isInvalidated === true
}
