import { isMap } from 'yaml'
import type { JsonSchema } from '../contract/index.ts'
import { compose } from './compose.ts'
import { openTarget, type Target } from './include.ts'
import type { LoadContext } from './load-context.ts'
import { textOf, type Node } from './node.ts'
import { typeNames } from './schema-language.ts'
import { checkName, type Section } from './section.ts'
import type { Source, Span } from './source.ts'
import { walkName, walkSchema, type SchemaRoot, type WalkContext } from './walk-schema.ts'

/** All schemas of a definition: named, inline, and reached by a relative `$ref`. */
export interface Schemas {
  readonly loading: LoadContext
  readonly walking: WalkContext
  readonly section: Section
  readonly named: Map<string, SchemaRoot>
  readonly outputs: Map<string, JsonSchema>
  /** Roots by the location of their text, so that each text has one name. */
  readonly byPlace: Map<string, SchemaRoot>
  /** The schemas of parameters, whose values are text that each type reads in its own way. */
  readonly ofText: Set<Node>
  /** Reached by a relative `$ref` and not processed yet. */
  readonly queue: SchemaRoot[]
}

export function makeSchemas(loading: LoadContext, section: Section): Schemas {
  const hintFor = (text: string): string | undefined =>
    section.entries.has(text) ? `Write { $ref: schema:///${text} }` : undefined
  const walking = {
    loading,
    levels: new Map(),
    references: [],
    written: new Map(),
    implied: new Map(),
    files: new Map(),
    outputs: new Map(),
    hintFor,
  }
  const schemas: Schemas = {
    loading,
    walking,
    section,
    named: new Map(),
    outputs: new Map(),
    byPlace: new Map(),
    ofText: new Set(),
    queue: [],
  }
  for (const { key, value } of section.entries.values()) addRoot(schemas, { name: key, node: value })
  for (const root of schemas.named.values()) schemas.outputs.set(root.name!, makePlace(schemas, root.node, root))
  return schemas
}

/** Reads the schema of a place, by name or inline. `prefix` is its JSON pointer in the enclosing schema. */
export function makeSchema(schemas: Schemas, node: Node, prefix = ''): JsonSchema {
  return makePlace(schemas, node, makeRoot({ node, prefix }))
}

function makePlace({ loading, walking, section }: Schemas, node: Node, root: SchemaRoot): JsonSchema {
  const name = textOf(node)
  if (name === undefined || node.kind !== 'scalar') return walkSchema(walking, root)
  if (section.entries.has(name)) return walkName(walking, root, node)
  if (/\.(ya?ml|json)$/.test(name)) {
    const hint = `To include a file: !include ${name}`
    loading.report.add({ code: section.code, at: node, parameters: { name }, hint })
  } else if (typeNames.some((type) => type === name)) {
    loading.report.add({ code: section.code, at: node, parameters: { name }, hint: `Write { type: ${name} }` })
  } else {
    checkName(section, name, { at: node, report: loading.report })
  }
  return true
}

interface RootOptions {
  readonly name?: string
  readonly node: Node
  /** The file in which a relative `$ref` found it. */
  readonly source?: Source
  readonly prefix?: string
}

function makeRoot({ name, node, source, prefix = '' }: RootOptions): SchemaRoot {
  const version = isMap(source?.content) ? source.content.get('$schema') : undefined
  return {
    name,
    node,
    file: source?.file,
    version: typeof version === 'string' ? version : undefined,
    prefix,
    pointers: new Map(),
    anchors: new Map(),
  }
}

function addRoot(schemas: Schemas, options: RootOptions & { readonly name: string }): SchemaRoot {
  const root = makeRoot(options)
  schemas.named.set(options.name, root)
  schemas.byPlace.set(placeOf(options.node), root)
  return root
}

function placeOf({ origin, start, end }: Span): string {
  return `${origin.source.file}:${start}:${end}`
}

/** Opens the schema in the file of a relative `$ref`. Its name is derived from its path. */
export function openSchema(schemas: Schemas, target: Target, at: Span): SchemaRoot | undefined {
  const { loading, byPlace, named, queue } = schemas
  const located = openTarget(loading, target, at)
  if (located === undefined) return undefined
  const [start = 0, end = start] = located.node?.range ?? []
  const known = byPlace.get(placeOf({ origin: located.origin, start, end }))
  if (known !== undefined) return known
  const node = compose(located.node, { loading, origin: located.origin, path: new Set() })
  const root = addRoot(schemas, { name: freeName(target, named), node, source: located.origin.source })
  queue.push(root)
  return root
}

function freeName({ file, pointer }: Target, taken: ReadonlyMap<string, unknown>): string {
  const name = [file, ...pointer]
    .join('.')
    .replace(/[^A-Za-z0-9._-]+/g, '.')
    .replace(/^[^A-Za-z0-9]+/, '')
  let free = name
  for (let count = 2; taken.has(free); count += 1) free = `${name}-${count}`
  return free
}
