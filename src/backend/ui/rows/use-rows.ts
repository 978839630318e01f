import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query'
import { call } from '../api/call.ts'
import { useListQuery } from '../components/use-list-query.ts'
import { joinQuery, type TablePlace } from './row-values.ts'

/** The query that describes a table. */
export function describeQuery(place: TablePlace) {
  return queryOptions({
    queryKey: ['rows', place.connection, place.table, 'description'],
    queryFn: ({ signal }) => call('GET /table/:connection/:table', { params: { ...place } }, signal),
    retry: false,
  })
}

/** The page of rows that the URL names: filters, order and cursor. */
export function useRows(place: TablePlace) {
  const state = useListQuery(['filter'], undefined)
  const { filter, sort, cursor } = state.query
  const query = { filter: joinQuery(filter, sort), cursor }
  const list = useQuery({
    queryKey: ['rows', place.connection, place.table, 'list', query],
    queryFn: ({ signal }) =>
      call(
        'GET /table/:connection/:table/row',
        { params: { ...place }, query: query as { filter?: string; cursor?: string } },
        signal,
      ),
    placeholderData: keepPreviousData,
    staleTime: 0,
  })
  return { state, list }
}
