import { findOpenAccess, type AccessWarning } from '../schema/index.ts'
import type { DefinitionResult } from './make-definition.ts'
import { entriesOf, itemsOf, textOf, valueOf, type Node } from './node.ts'
import { listPlacedRoutes } from './route-keys.ts'
import type { Span } from './source.ts'

/** Warns at their places about the parts of a definition that let in more people than meant. */
export function checkOpenAccess({ context, definition, defaultScopes = [] }: DefinitionResult, root: Node): void {
  const { report } = context.loading
  // After an error it is unknown what the routes return.
  const hasErrors = report.hasErrors()
  for (const warning of findOpenAccess(definition, defaultScopes)) {
    const { code, kind, name, scope = '' } = warning
    const at = findPlace(root, warning)
    if (at === undefined || (kind === 'event' && hasErrors)) continue
    const [method = '', path = ''] = name.split(' ')
    const parameters = { name, scope, method, path }
    report.add({ code, severity: 'warning', at, parameters, subject: `${kind} ${name}` })
  }
}

function findPlace(root: Node, { code, kind, name, scope }: AccessWarning): Span | undefined {
  if (kind === 'event') {
    const event = entriesOf(valueOf(root, 'event')).find(({ key }) => key === name)
    const given = itemsOf(valueOf(event?.value, 'scopes')).find((item) => textOf(item) === scope)
    return given ?? event?.keySpan
  }
  const [method = '', path = ''] = name.split(' ')
  const placed = listPlacedRoutes(root).find((one) => one.path === path)
  if (placed === undefined) return undefined
  const route = placed.entry.value
  const key = code === 'WP_DEFINITION_PUBLIC_CHANGE' ? 'public' : 'scopes'
  return [valueOf(valueOf(route, 'methods'), method), route, ...placed.groups.map(({ entry }) => entry.value)]
    .flatMap((node) => (node?.kind === 'map' ? (node.entries.get(key)?.keySpan ?? []) : []))
    .at(0)
}
