import { queryOptions } from '@tanstack/react-query'
import { call, type Answer } from './call.ts'
import { Problem } from './send.ts'

export type Definition = Answer<'GET /release/:id/definition'>
export type Route = Definition['routes'][number]

const nothing: Definition = {
  id: '',
  is_active: false,
  routes: [],
  schemas: [],
  actions: [],
  events: [],
  cronjobs: [],
  rates: [],
  settings: [],
}

/** What the active release contains; without a release, nothing. */
export const definitionQuery = queryOptions({
  queryKey: ['definition'],
  queryFn: async ({ signal }) => {
    try {
      return await call('GET /release/:id/definition', { params: { id: 'active' } }, signal)
    } catch (error) {
      if (error instanceof Problem && error.code === 'WP_RELEASE_UNKNOWN') return nothing
      throw error
    }
  },
})

/** The name of a method in links and statistics: `GET /todo`. */
export function nameOf({ method, path }: Pick<Route, 'method' | 'path'>): string {
  return `${method} ${path}`
}
