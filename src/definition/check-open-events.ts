import { textOf, valueOf, entriesOf, type Node } from './node.ts'
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
  const shown = new Set<Node>()
  for (const route of entriesOf(valueOf(root, 'routes'))) {
    for (const { value: method } of entriesOf(valueOf(route.value, 'methods'))) {
      const isOpen = valueOf(method, 'public')
      if (isOpen?.kind !== 'scalar' || isOpen.value !== true) continue
      for (const answer of answersOf(method)) shown.add(answer)
    }
  }
  // The set grows while it is walked.
  for (const node of shown) {
    const target = node.kind === 'scalar' && textOf(node) !== undefined ? targets.get(node)?.node : undefined
    if (target !== undefined) shown.add(target)
    if (node.kind === 'list') for (const item of node.items) shown.add(item)
    if (node.kind === 'map') for (const { value } of node.entries.values()) shown.add(value)
  }
  return shown
}

function answersOf(method: Node): Node[] {
  const single = valueOf(method, 'response')
  const several = entriesOf(valueOf(method, 'responses')).filter(({ key }) => key.startsWith('2'))
  return [...(single === undefined ? [] : [single]), ...several.map(({ value }) => value)]
}
