import { entriesOf, isEmpty, valueOf, type Node } from './node.ts'
import type { Making } from './making.ts'
import type { ResolvedSchemas } from './resolve-references.ts'

/**
 * Warns of an event to which everybody may subscribe, unless a public method shows the same data anyway: its schema is
 * that of a 2xx answer of one, or part of it.
 */
export function checkOpenEvents(making: Making, root: Node, { targets }: ResolvedSchemas): void {
  const routes = valueOf(root, 'routes')
  const open = entriesOf(valueOf(root, 'event')).filter(({ value }) => isOpen(value))
  // Where something is wrong, nobody knows what the routes show.
  if (open.length === 0 || making.loading.report.hasErrors()) return
  const shown = collectShown(routes, targets)
  for (const { key: name, keySpan, value } of open) {
    if (isShown(valueOf(value, 'schema'), shown, targets)) continue
    const parameters = { name }
    making.loading.report.add({ code: 'WP_DEFINITION_EVENT_OPEN', severity: 'warning', at: keySpan, parameters })
  }
}

function isOpen(event: Node): boolean {
  return isEmpty(event) || (event.kind === 'map' && !event.entries.has('scopes'))
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

function isPublic(method: Node): boolean {
  const value = valueOf(method, 'public')
  return value?.kind === 'scalar' && value.value === true
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
