import type { ActionUse } from 'waypost'
import type { TableUse } from '../table-use.ts'
import type { EmbedConfig } from './embed-config.ts'

/**
 * Returns the scopes of which a caller needs one to have an embed: those of the methods that read the rows of its action.
 * @returns an empty list for all users, undefined for all callers of the method
 */
export function findAccess(
  name: string,
  { from }: EmbedConfig,
  { use, report }: TableUse,
): readonly string[] | undefined {
  if (from === undefined) return undefined
  const methods = Object.hasOwn(use.methods, from) ? use.methods[from]! : []
  const reading = methods.filter(({ method }) => method === 'GET')
  if (reading.length === 0)
    report(`/embed/${name}/from`, `No GET uses "${from}", so no caller may read its rows`, {
      hint: `Add a route with a GET that uses "${from}"`,
    })
  if (reading.some((one) => one.public)) return undefined
  if (reading.some(({ scopes }) => scopes.length === 0)) return use.public ? [] : undefined
  return [...new Set(reading.flatMap(({ scopes }) => scopes))].sort()
}

/** Whether some callers of a method have none of the scopes. */
export function isNarrower(scopes: readonly string[] | undefined, { method, path, ...use }: ActionUse): boolean {
  if (scopes === undefined) return false
  if (use.public) return true
  const own = Object.values(use.methods)
    .flat()
    .find((one) => one.method === method && one.path === path)?.scopes
  return scopes.length > 0 && (own === undefined || own.length === 0 || own.some((scope) => !scopes.includes(scope)))
}
