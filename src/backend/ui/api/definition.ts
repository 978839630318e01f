import { queryOptions, type QueryClient } from '@tanstack/react-query'
import { call, type ResponseOf } from './call.ts'

export type Definition = ResponseOf<'GET /release/:id/definition'>
export type Route = Definition['routes'][number]

/** The definition in the draft of the server, or of the active release if there is no draft; empty without a release. */
export const definitionQuery = queryOptions({
  queryKey: ['definition'],
  queryFn: ({ client, signal }) =>
    call('GET /release/:id/definition', { params: { id: definitionId(client) } }, signal),
})

/** The definition of the active release; empty without a release. In `dev`, that of the served files. */
export const activeQuery = queryOptions({
  queryKey: ['definition', 'active'],
  queryFn: ({ signal }) => call('GET /release/:id/definition', { params: { id: 'active' } }, signal),
})

/** The tables of the draft of the server, or of the active release if there is no draft. */
export const tablesQuery = queryOptions({
  queryKey: ['table'],
  queryFn: ({ client, signal }) => call('GET /table', { query: { of: definitionId(client) } }, signal),
})

/** The id of the definition that the pages of Build show: `draft` on a server with a draft, even without changes. */
export function definitionId(client: QueryClient): 'active' | 'draft' {
  const draft = client.getQueryData<ResponseOf<'GET /draft'> | null>(['draft', 'state'])
  return draft?.mode === 'server' ? 'draft' : 'active'
}

/** The name of a method in links and statistics: `GET /todo`. */
export function nameOf({ method, path }: Pick<Route, 'method' | 'path'>): string {
  return `${method} ${path}`
}
