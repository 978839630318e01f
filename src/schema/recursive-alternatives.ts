import { mapSubSchemas } from './placed.ts'
import { followReference, type NamedSchemas, type SchemaRoot } from './references.ts'
import type { JsonSchema } from '../contract/index.ts'

/** Schemas that contain or refer to each other. */
export interface SchemaGraph<Node> {
  /** Returns the schemas directly inside a schema, and the target of its `$ref`. */
  inner(node: Node): readonly Node[]
  /** Returns the items of `anyOf` and of `oneOf`. */
  alternatives(node: Node): readonly (readonly Node[])[]
}

/**
 * Finds lists of alternatives of which at least two contain the list itself. A check that tries both doubles its work with
 * each level of a value.
 * @returns for each list the alternatives that contain it
 */
export function findRecursiveAlternatives<Node>(
  roots: readonly Node[],
  graph: SchemaGraph<Node>,
): readonly (readonly Node[])[] {
  return [...collectReachable(roots, graph)].flatMap((node) =>
    graph.alternatives(node).flatMap((list) => {
      const recursive = list.length < 2 ? [] : list.filter((one) => collectReachable([one], graph).has(node))
      return recursive.length < 2 ? [] : [recursive]
    }),
  )
}

function collectReachable<Node>(roots: readonly Node[], { inner }: SchemaGraph<Node>): ReadonlySet<Node> {
  const found = new Set(roots)
  for (const node of found) for (const one of inner(node)) found.add(one) // grows while it is iterated
  return found
}

/** Returns true if a schema has recursive alternatives, see `findRecursiveAlternatives`. */
export function hasRecursiveAlternatives(schema: JsonSchema, named: NamedSchemas): boolean {
  const text = JSON.stringify([schema, named])
  if (!text.includes('"$ref":') || !/"(?:anyOf|oneOf)":/.test(text)) return false
  const roots = new Map<JsonSchema, SchemaRoot>([[schema, { schema, name: '' }]])
  const inner = (node: JsonSchema): readonly JsonSchema[] => {
    if (typeof node === 'boolean') return []
    const root = roots.get(node)!
    const found: JsonSchema[] = []
    mapSubSchemas(node, (one, keyword) => {
      if (keyword !== '$defs' && keyword !== 'definitions') found.push(one)
      return one
    })
    for (const one of found) roots.set(one, root)
    const target = typeof node['$ref'] === 'string' ? followReference(node['$ref'], root, named) : undefined
    if (target === undefined) return found
    roots.set(target.schema, target.root)
    return [...found, target.schema]
  }
  const alternatives = (node: JsonSchema) =>
    typeof node === 'boolean'
      ? []
      : (['anyOf', 'oneOf'] as const).flatMap((key) => (Array.isArray(node[key]) ? [node[key] as JsonSchema[]] : []))
  return findRecursiveAlternatives([schema], { inner, alternatives }).length > 0
}
