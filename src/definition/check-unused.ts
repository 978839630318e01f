import type { DefinitionContext } from './definition-context.ts'
import { entriesOf, valueOf, type Node } from './node.ts'
import type { ResolvedSchemas } from './resolve-references.ts'
import type { SchemaRoot } from './walk-schema.ts'

/** Warns about named schemas that no route, event or config uses, directly or through another schema. */
export function checkUnused(context: DefinitionContext, root: Node, { targets }: ResolvedSchemas): void {
  const { schemas, loading } = context
  const isBegun = ['routes', 'event'].some((key) => entriesOf(valueOf(root, key)).length > 0)
  // A part with an error may be what uses the schema.
  if (!isBegun || loading.report.hasErrors()) return
  const used = new Set([...context.schemasInConfigs].flatMap((name) => schemas.named.get(name) ?? []))
  const uses = new Map<SchemaRoot, SchemaRoot[]>()
  for (const { at, root: from } of schemas.walking.references) {
    const to = targets.get(at)?.root
    if (to === undefined) continue
    if (from.name === undefined) used.add(to)
    else uses.set(from, [...(uses.get(from) ?? []), to])
  }
  // The set grows while it is iterated.
  for (const one of used) for (const to of uses.get(one) ?? []) used.add(to)
  for (const { key: name, keySpan } of entriesOf(valueOf(root, 'schema'))) {
    if (used.has(schemas.named.get(name)!)) continue
    const parameters = { name }
    loading.report.add({ code: 'WP_DEFINITION_SCHEMA_UNUSED', severity: 'warning', at: keySpan, parameters })
  }
}
