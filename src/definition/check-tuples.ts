import { hasAccess } from '../schema/index.ts'
import type { Definition } from './definition.ts'
import type { DefinitionContext } from './definition-context.ts'
import { itemsOf } from './node.ts'
import { findRoots } from './schema-roots.ts'

/** Reports items of tuples that are read-only or write-only: without one, the items after it would move to its place. */
export function checkTuples(
  { schemas, loading: { report } }: DefinitionContext,
  { schemas: named }: Pick<Definition, 'schemas'>,
): void {
  const rootOf = findRoots(schemas)
  for (const [output, { node, root }] of schemas.walking.written) {
    const { entries } = node
    const items = itemsOf((entries.get('prefixItems') ?? entries.get('items'))?.value)
    const given = (output as { readonly prefixItems?: unknown }).prefixItems
    if (!Array.isArray(given)) continue
    for (const [index, at] of items.entries()) {
      const placed = { schema: given[index] ?? true, root: rootOf(root), named }
      const keyword = (['readOnly', 'writeOnly'] as const).find((one) => hasAccess(placed, one))
      if (keyword === undefined) continue
      const problem = `An item of a tuple cannot be "${keyword}", because without it, the items after it would move`
      report.add({ code: 'WP_DEFINITION_SCHEMA_INVALID', at, parameters: { problem }, hint: 'Use an object' })
    }
  }
}
