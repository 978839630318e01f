import { entriesOf, valueOf, type Node } from './node.ts'
import type { Making } from './making.ts'
import type { ResolvedSchemas } from './resolve-references.ts'

/**
 * Warns of an event to which everybody may subscribe, unless a public method shows the same data anyway: its schema is
 * that of a 2xx answer of one, or part of it.
 */
export function checkOpenEvents(making: Making, root: Node, { targets }: ResolvedSchemas): void {
  const open = entriesOf(valueOf(root, 'event')).filter(
    ({ value }) => value.kind === 'map' && !value.entries.has('scopes'),
  )
  if (open.length === 0) return
  const shown = collectShown(root, targets)
  for (const { key: name, keySpan, value } of open) {
    const schema = valueOf(value, 'schema')
    const target = schema === undefined ? undefined : targets.get(referenceOf(schema))?.node
    if (schema?.kind === 'broken' || (target !== undefined && shown.has(target))) continue
    const parameters = { name }
    making.loading.report.add({ code: 'WP_DEFINITION_EVENT_OPEN', severity: 'warning', at: keySpan, parameters })
  }
}

function referenceOf(schema: Node): Node {
  return schema.kind === 'map' ? (valueOf(schema, '$ref') ?? schema) : schema
}

/** Every named schema that an answer of a public method has or contains. */
function collectShown(root: Node, targets: ResolvedSchemas['targets']): ReadonlySet<Node> {
  const methods = entriesOf(valueOf(root, 'routes')).flatMap(({ value }) => entriesOf(valueOf(value, 'methods')))
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
