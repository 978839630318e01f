import { schemaKeywords, type SchemaKeyword } from '../schema/index.ts'
import { textsOf, type Entry, type MapNode, type Node } from './node.ts'

/** A sub-schema of a keyword, or something else that stands beside sub-schemas. */
export interface Child {
  /** Keyword and, below it, key or index, as JSON Schema 2020-12 has them. */
  readonly path: readonly [string] | readonly [string, string | number]
  readonly node?: Node
  /** It applies to the same value as the schema around it. */
  readonly here: boolean
  /** What is written where there is no sub-schema. */
  readonly plain?: unknown
  /** The keyword has no sub-schema at all. */
  readonly empty?: unknown
}

/** The sub-schemas of a keyword, draft-07's translated to 2020-12; undefined for a keyword whose value is plain. */
export function childrenOf(
  entry: Entry,
  { isDraft07, map }: { isDraft07: boolean; map: MapNode },
): Child[] | undefined {
  const { key, value } = entry
  if (key === 'dependencies') return dependenciesOf(value)
  if (isDraft07 && (key === 'items' || key === 'additionalItems')) {
    const tuple = map.entries.get('items')?.value.kind === 'list'
    if (key === 'items' && value.kind === 'list') return listOf('prefixItems', value.items, false)
    return tuple || key === 'items' ? [{ path: ['items'], node: value, here: false }] : []
  }
  const kind = schemaKeywords.get(key)
  return kind === undefined ? undefined : childrenOfKind(entry, kind)
}

function childrenOfKind({ key, value }: Entry, { holds, here }: SchemaKeyword): Child[] {
  if (holds === 'schema') return [{ path: [key], node: value, here }]
  if (holds === 'list') return value.kind === 'list' ? listOf(key, value.items, here) : []
  if (value.kind !== 'map') return []
  if (value.entries.size === 0) return [{ path: [key], here: false, empty: {} }]
  return [...value.entries.values()].map((item) => ({ path: [key, item.key], node: item.value, here }))
}

function listOf(keyword: string, items: readonly Node[], here: boolean): Child[] {
  return items.map((node, index) => ({ path: [keyword, index], node, here }))
}

/** Split as 2019-09 did: lists of names apart from schemas. */
function dependenciesOf(value: Node): Child[] {
  if (value.kind !== 'map') return []
  return [...value.entries.values()].map((item) =>
    item.value.kind === 'list'
      ? { path: ['dependentRequired', item.key], here: false, plain: textsOf(item.value) }
      : { path: ['dependentSchemas', item.key], node: item.value, here: true },
  )
}
