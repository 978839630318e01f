import { queryOptions, type QueryClient } from '@tanstack/react-query'
import { call, type Answer } from './call.ts'

export type Definition = Answer<'GET /release/:id/definition'>
export type Route = Definition['routes'][number]

/** What the draft of the server contains, and elsewhere the active release; without a release, nothing. */
export const definitionQuery = queryOptions({
  queryKey: ['definition'],
  queryFn: ({ client, signal }) =>
    call('GET /release/:id/definition', { params: { id: definitionId(client) } }, signal),
})

/** What the active release contains; without a release, nothing. In `dev`, the files that are served. */
export const activeQuery = queryOptions({
  queryKey: ['definition', 'active'],
  queryFn: ({ signal }) => call('GET /release/:id/definition', { params: { id: 'active' } }, signal),
})

/** The tables of the draft of the server, and elsewhere those of the active release. */
export const tablesQuery = queryOptions({
  queryKey: ['table'],
  queryFn: ({ client, signal }) => call('GET /table', { query: { of: definitionId(client) } }, signal),
})

/** The id of what the pages of Build show: `draft` where a server has one, even without changes. */
export function definitionId(client: QueryClient): 'active' | 'draft' {
  const draft = client.getQueryData<Answer<'GET /draft'> | null>(['draft', 'state'])
  return draft?.mode === 'server' ? 'draft' : 'active'
}

/** The name of a method in links and statistics: `GET /todo`. */
export function nameOf({ method, path }: Pick<Route, 'method' | 'path'>): string {
  return `${method} ${path}`
}
