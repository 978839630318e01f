import { consumerScope, isBackendScope } from '../account/scopes.ts'

/** What Waypost's own scopes let a client do; a release describes its own. */
const own = new Map([
  [consumerScope, 'See your account and subscribe to events for you'],
  ['backend.read', 'See everything on this server'],
  ['backend.write', 'Prepare changes to this server'],
  ['backend.deploy', 'Control this server fully'],
  ['backend.admin', 'Administer users, clients and security settings'],
])

/**
 * What is said of a scope where a client asks for it: nothing else of one of administration than what it is.
 * @param scopes the active release's
 */
export function describeScope(
  scopes: Readonly<Record<string, { readonly description?: string }>>,
  name: string,
): string | undefined {
  if (isBackendScope(name)) return own.get(name)
  return (Object.hasOwn(scopes, name) ? scopes[name]?.description : undefined) ?? own.get(name)
}
