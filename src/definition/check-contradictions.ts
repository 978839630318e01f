import type { JsonSchema } from '../contract/index.ts'
import { findContradiction } from '../schema/index.ts'
import { textOf, type MapNode } from './node.ts'
import type { ResolvedSchemas } from './resolve-references.ts'
import type { Schemas } from './schemas.ts'
import { findRoots } from './schema-roots.ts'

/** Keywords that can contradict others of the same schema, or of the schemas that it combines. */
const restricting = ['allOf', 'anyOf', 'oneOf', '$ref', 'required', 'minItems', 'minProperties', 'contains']

/** Reports schemas that no value matches, unless one of their parts is the reason and is reported itself. */
export function checkContradictions(schemas: Schemas, { named }: ResolvedSchemas): void {
  const {
    walking,
    loading: { report },
  } = schemas
  if (report.hasErrors()) return // the schemas that others refer to may be incomplete
  const rootOf = findRoots(schemas)
  for (const [output, { node, root }] of walking.written) {
    if (schemas.ofText.has(root.node)) continue
    if (node.entries.size < 2 && !node.entries.has('allOf')) continue
    if (!restricting.some((keyword) => node.entries.has(keyword)) || report.isUnclear(node)) continue
    const found = findContradiction({ schemas: [{ schema: output as JsonSchema, root: rootOf(root), named }] })
    if (found === undefined || found.keyword === '') continue
    // `checkSchemaValues` reports each value of its own.
    if (found.schema === output && ['enum', 'const'].includes(found.keyword)) continue
    const holder = walking.written.get(found.schema)?.node ?? node
    const inside = found.path === '' ? '' : `${found.path}: `
    const problem = `No value is valid: ${inside}${found.reason}`
    report.add({ code: 'WP_DEFINITION_SCHEMA_INVALID', at: placeOf(holder, found) ?? node, parameters: { problem } })
  }
}

function placeOf(holder: MapNode, { keyword, item }: { readonly keyword: string; readonly item?: string }) {
  const entry = holder.entries.get(keyword)
  if (entry === undefined) return undefined
  if (item === undefined || entry.value.kind !== 'list') return entry.keySpan
  return entry.value.items.find((one) => textOf(one) === item) ?? entry.keySpan
}
