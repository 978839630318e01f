import { queryOptions } from '@tanstack/react-query'
import { call, type Answer } from './call.ts'

export type Definition = Answer<'GET /release/:id/definition'>
export type Route = Definition['routes'][number]

/** What the active release contains; without a release, nothing. */
export const definitionQuery = queryOptions({
  queryKey: ['definition'],
  queryFn: ({ signal }) => call('GET /release/:id/definition', { params: { id: 'active' } }, signal),
})

/** The name of a method in links and statistics: `GET /todo`. */
export function nameOf({ method, path }: Pick<Route, 'method' | 'path'>): string {
  return `${method} ${path}`
}
