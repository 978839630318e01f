import { entriesOf, itemsOf, textOf, valueOf, type Node } from './node.ts'
import { isPublic } from './make-method.ts'
import type { DefinitionContext } from './definition-context.ts'
import type { ResolvedSchemas } from './resolve-references.ts'

export interface OpenEventsOptions {
  readonly resolved: ResolvedSchemas
  /** The scopes of each new user, if known. */
  readonly defaultScopes: readonly string[] | undefined
}

/**
 * Warns about events to which every user can subscribe, because they have no scopes or a default scope. Not if a public
 * method returns the same data: its 2xx response has the schema of the event or contains it.
 */
export function checkOpenEvents(
  { loading: { report } }: DefinitionContext,
  root: Node,
  { resolved: { targets }, defaultScopes = [] }: OpenEventsOptions,
): void {
  const events = entriesOf(valueOf(root, 'event'))
  // After an error it is unknown what the routes return.
  if (events.length === 0 || report.hasErrors()) return
  const publicSchemas = collectPublicSchemas(valueOf(root, 'routes'), targets)
  for (const { key: name, keySpan, value } of events) {
    const scopes = valueOf(value, 'scopes')
    const open = itemsOf(scopes).find((item) => defaultScopes.includes(textOf(item) ?? ''))
    if (
      (scopes !== undefined && open === undefined) ||
      isPublicSchema(valueOf(value, 'schema'), publicSchemas, targets)
    )
      continue
    if (open === undefined) {
      report.add({ code: 'WP_DEFINITION_EVENT_OPEN', severity: 'warning', at: keySpan, parameters: { name } })
    } else {
      const parameters = { name, scope: textOf(open)! }
      report.add({ code: 'WP_DEFINITION_EVENT_DEFAULT_SCOPE', severity: 'warning', at: open, parameters })
    }
  }
}

/** Also true for a reference that was not found, which is reported elsewhere. */
function isPublicSchema(
  schema: Node | undefined,
  publicSchemas: ReadonlySet<Node>,
  targets: ResolvedSchemas['targets'],
): boolean {
  if (schema === undefined) return false
  if (schema.kind === 'broken') return true
  const reference = schema.kind === 'map' ? valueOf(schema, '$ref') : schema
  if (reference === undefined) return false
  const target = targets.get(reference)?.node
  return target === undefined || target.kind === 'broken' || publicSchemas.has(target)
}

/** Collects all named schemas that responses of public methods use. */
function collectPublicSchemas(routes: Node | undefined, targets: ResolvedSchemas['targets']): ReadonlySet<Node> {
  const methods = entriesOf(routes).flatMap(({ value }) => entriesOf(valueOf(value, 'methods')))
  const publicSchemas = new Set(
    methods.filter(({ value }) => isPublic(value)).flatMap(({ value }) => responsesOf(value)),
  )
  // The set grows while it is iterated.
  for (const node of publicSchemas) for (const inner of childrenOf(node, targets)) publicSchemas.add(inner)
  return publicSchemas
}

function childrenOf(node: Node, targets: ResolvedSchemas['targets']): Node[] {
  if (node.kind === 'list') return [...node.items]
  if (node.kind === 'map') return entriesOf(node).map(({ value }) => value)
  const target = targets.get(node)?.node
  return target === undefined ? [] : [target]
}

function responsesOf(method: Node): Node[] {
  const single = valueOf(method, 'response')
  const several = entriesOf(valueOf(method, 'responses')).filter(({ key }) => key.startsWith('2'))
  return [...(single === undefined ? [] : [single]), ...several.map(({ value }) => value)]
}
