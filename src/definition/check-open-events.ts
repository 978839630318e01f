import { entriesOf, itemsOf, textOf, valueOf, type Node } from './node.ts'
import { isPublic } from './make-method.ts'
import type { Making } from './making.ts'
import type { ResolvedSchemas } from './resolve-references.ts'

export interface OpenEventsOptions {
  readonly resolved: ResolvedSchemas
  /** The scopes that every new user gets, where they are known. */
  readonly defaultScopes: readonly string[] | undefined
}

/**
 * Warns of an event to which everybody may subscribe, because it names no scopes or one that every new user gets; unless a
 * public method shows the same data anyway: its schema is that of a 2xx answer of one, or part of it.
 */
export function checkOpenEvents(
  { loading: { report } }: Making,
  root: Node,
  { resolved: { targets }, defaultScopes = [] }: OpenEventsOptions,
): void {
  const events = entriesOf(valueOf(root, 'event'))
  // Where something is wrong, nobody knows what the routes show.
  if (events.length === 0 || report.hasErrors()) return
  const shown = collectShown(valueOf(root, 'routes'), targets)
  for (const { key: name, keySpan, value } of events) {
    const scopes = valueOf(value, 'scopes')
    const open = itemsOf(scopes).find((item) => defaultScopes.includes(textOf(item) ?? ''))
    if ((scopes !== undefined && open === undefined) || isShown(valueOf(value, 'schema'), shown, targets)) continue
    if (open === undefined) {
      report.add({ code: 'WP_DEFINITION_EVENT_OPEN', severity: 'warning', at: keySpan, parameters: { name } })
    } else {
      const parameters = { name, scope: textOf(open)! }
      report.add({ code: 'WP_DEFINITION_EVENT_DEFAULT_SCOPE', severity: 'warning', at: open, parameters })
    }
  }
}

/** Also if it refers to something that was not found: that was reported. */
function isShown(schema: Node | undefined, shown: ReadonlySet<Node>, targets: ResolvedSchemas['targets']): boolean {
  if (schema === undefined) return false
  if (schema.kind === 'broken') return true
  const reference = schema.kind === 'map' ? valueOf(schema, '$ref') : schema
  if (reference === undefined) return false
  const target = targets.get(reference)?.node
  return target === undefined || target.kind === 'broken' || shown.has(target)
}

/** Every named schema that an answer of a public method has or contains. */
function collectShown(routes: Node | undefined, targets: ResolvedSchemas['targets']): ReadonlySet<Node> {
  const methods = entriesOf(routes).flatMap(({ value }) => entriesOf(valueOf(value, 'methods')))
  const shown = new Set(methods.filter(({ value }) => isPublic(value)).flatMap(({ value }) => answersOf(value)))
  // The set grows while it is walked.
  for (const node of shown) for (const inner of innerOf(node, targets)) shown.add(inner)
  return shown
}

function innerOf(node: Node, targets: ResolvedSchemas['targets']): Node[] {
  if (node.kind === 'list') return [...node.items]
  if (node.kind === 'map') return entriesOf(node).map(({ value }) => value)
  const target = targets.get(node)?.node
  return target === undefined ? [] : [target]
}

function answersOf(method: Node): Node[] {
  const single = valueOf(method, 'response')
  const several = entriesOf(valueOf(method, 'responses')).filter(({ key }) => key.startsWith('2'))
  return [...(single === undefined ? [] : [single]), ...several.map(({ value }) => value)]
}
