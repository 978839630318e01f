import { schemaKeywords, type SchemaKeyword } from '../schema/index.ts'
import { textsOf, type Entry, type MapNode, type Node } from './node.ts'

/** A sub-schema of a keyword, or a plain value beside sub-schemas. */
export interface Child {
  /** The keyword and, below it, key or index, as in JSON Schema 2020-12. */
  readonly path: readonly [string] | readonly [string, string | number]
  readonly node?: Node
  /** Whether it applies to the same value as its parent schema. */
  readonly sameValue: boolean
  /** The value to write if there is no sub-schema. */
  readonly plain?: unknown
  /** The value to write if the keyword has no sub-schemas at all. */
  readonly empty?: unknown
}

/**
 * Returns the sub-schemas of a keyword, converted from draft-07 to 2020-12; undefined if the value of the keyword is
 * plain.
 */
export function childrenOf(
  entry: Entry,
  { isDraft07, map }: { isDraft07: boolean; map: MapNode },
): Child[] | undefined {
  const { key, value } = entry
  if (key === 'dependencies') return dependenciesOf(value)
  if (isDraft07 && (key === 'items' || key === 'additionalItems')) {
    const tuple = map.entries.get('items')?.value.kind === 'list'
    if (key === 'items' && value.kind === 'list') return listOf('prefixItems', value.items, false)
    return tuple || key === 'items' ? [{ path: ['items'], node: value, sameValue: false }] : []
  }
  const kind = schemaKeywords.get(key)
  return kind === undefined ? undefined : childrenOfKind(entry, kind)
}

function childrenOfKind({ key, value }: Entry, { holds, here: sameValue }: SchemaKeyword): Child[] {
  if (holds === 'schema') return [{ path: [key], node: value, sameValue }]
  if (holds === 'list') return value.kind === 'list' ? listOf(key, value.items, sameValue) : []
  if (value.kind !== 'map') return []
  if (value.entries.size === 0) return [{ path: [key], sameValue: false, empty: {} }]
  return [...value.entries.values()].map((item) => ({ path: [key, item.key], node: item.value, sameValue }))
}

function listOf(keyword: string, items: readonly Node[], sameValue: boolean): Child[] {
  return items.map((node, index) => ({ path: [keyword, index], node, sameValue }))
}

/** Splits `dependencies` like 2019-09 did: lists of names and schemas. */
function dependenciesOf(value: Node): Child[] {
  if (value.kind !== 'map') return []
  return [...value.entries.values()].map((item) =>
    item.value.kind === 'list'
      ? { path: ['dependentRequired', item.key], sameValue: false, plain: textsOf(item.value) }
      : { path: ['dependentSchemas', item.key], node: item.value, sameValue: true },
  )
}
