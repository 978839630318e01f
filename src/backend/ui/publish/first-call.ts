import type { Entry } from '../api/call.ts'
import { nameOf, type Route } from '../api/definition.ts'
import type { Plan } from './api.ts'

interface Known {
  readonly routes: readonly Route[]
  readonly tables: readonly Entry<'GET /table'>[]
  /** The scopes of the user when it is published; undefined if they are not known. */
  readonly scopes: readonly string[] | undefined
}

/**
 * Returns a method to call after publishing that responds as soon as it is sent: preferably a new one, and POST. Not one of
 * a row, and no POST to a table whose rows refer to others, since nothing says which rows exist.
 */
export function findFirstCall({ changes }: Plan, { routes, tables, scopes }: Known): string | undefined {
  const changed = changes.filter(
    ({ kind, change, name }) => kind === 'route' && change !== 'removed' && !name.includes('/:'),
  )
  const names = [...changed.filter(({ change }) => change === 'added'), ...changed].map(({ name }) => name)
  const refers = (name: string) => tables.some((one) => one.used_by.includes(name) && one.references.length > 0)
  const may = (name: string) => {
    const route = routes.find((one) => nameOf(one) === name)
    if (route === undefined || route.public || route.scopes.length === 0 || scopes === undefined) return true
    return route.scopes.some((scope) => scopes.includes(scope))
  }
  const possible = names.filter(may)
  const created = possible.find((name) => name.startsWith('POST ') && !refers(name))
  return created ?? possible.find((name) => name.startsWith('GET '))
}
