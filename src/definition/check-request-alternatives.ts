import { findRecursiveAlternatives } from '../schema/index.ts'
import type { DefinitionContext } from './definition-context.ts'
import { entriesOf, itemsOf, textsOf, toValue, type MapNode, type Node } from './node.ts'
import type { ResolvedSchemas } from './resolve-references.ts'
import { childrenOf } from './schema-keywords.ts'
import { typesOfSchema, type WalkContext } from './walk-schema.ts'

/**
 * Warns about alternatives in request bodies that contain themselves and that neither a type nor a constant tells apart:
 * the work of validation doubles with each level of a body, until it is rejected.
 */
export function checkRequestAlternatives(
  { requests, schemas: { walking }, loading }: DefinitionContext,
  { targets }: ResolvedSchemas,
): void {
  const follow = (node: Node): Node | undefined =>
    targets.get(node.kind === 'map' ? (node.entries.get('$ref')?.value ?? node) : node)?.node
  const inner = (node: Node): readonly Node[] => {
    const target = follow(node)
    const nodes = node.kind === 'map' ? childNodesOf(node) : []
    return target === undefined ? nodes : [...nodes, target]
  }
  for (const recursive of findRecursiveAlternatives(requests, { inner, alternatives: alternativesOf })) {
    const schemas = recursive.map((node) => resolve(node, follow))
    const isAmbiguous = schemas.some((one, index) =>
      schemas.slice(0, index).some((other) => !isDistinct(walking, one, other)),
    )
    if (isAmbiguous)
      loading.report.add({ code: 'WP_DEFINITION_ALTERNATIVES_RECURSIVE', severity: 'warning', at: recursive[0]! })
  }
}

function childNodesOf(node: MapNode): Node[] {
  return [...node.entries.values()].flatMap((entry) => {
    if (entry.key === '$defs' || entry.key === 'definitions') return []
    const children = childrenOf(entry, { isDraft07: true, map: node }) ?? []
    return children.flatMap((child) => child.node ?? [])
  })
}

function alternativesOf(node: Node): readonly (readonly Node[])[] {
  return node.kind === 'map' ? ['anyOf', 'oneOf'].map((key) => itemsOf(node.entries.get(key)?.value)) : []
}

const maxFollowed = 10

/** Follows references to the schema that says what an alternative is. */
function resolve(node: Node, follow: (node: Node) => Node | undefined): Node {
  let found = node
  for (let count = 0; count < maxFollowed; count += 1) {
    const target = follow(found)
    if (target === undefined) break
    found = target
  }
  return found
}

function isDistinct(walking: WalkContext, one: Node, other: Node): boolean {
  if (one.kind !== 'map' || other.kind !== 'map') return false
  if (areDisjoint(typesOfSchema(walking, one), typesOfSchema(walking, other))) return true
  const constants = constantsOf(other)
  return [...constantsOf(one)].some(([name, values]) => areDisjoint(values, constants.get(name) ?? []))
}

function areDisjoint(one: readonly string[], other: readonly string[]): boolean {
  return one.length > 0 && other.length > 0 && !one.some((value) => other.includes(value))
}

/** Returns the values that required properties may have, where `const` or `enum` lists them. */
function constantsOf({ entries }: MapNode): ReadonlyMap<string, readonly string[]> {
  const required = textsOf(entries.get('required')?.value)
  const found = entriesOf(entries.get('properties')?.value).flatMap(({ key, value }) => {
    if (value.kind !== 'map' || !required.includes(key)) return []
    const constant = value.entries.get('const')?.value
    const values = constant === undefined ? itemsOf(value.entries.get('enum')?.value) : [constant]
    return [[key, values.map((one) => JSON.stringify(toValue(one)))] as const]
  })
  return new Map(found)
}
