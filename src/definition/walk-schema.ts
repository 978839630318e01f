import type { JsonSchema } from '../contract/index.ts'
import { checkStructure } from './check-structure.ts'
import { makePointer } from '../schema/index.ts'
import type { Loading } from './loading.ts'
import {
  describeNode,
  entriesOf,
  itemsOf,
  textOf,
  textsOf,
  toValue,
  type Entry,
  type MapNode,
  type Node,
  type ScalarNode,
} from './node.ts'
import { schema2020, schemaDraft07, typeNames } from './schema-language.ts'
import { childrenOf, type Child } from './schema-keywords.ts'
import type { Span } from './source.ts'
import { checkStrict } from './strict-schema.ts'

/** A schema that stands for itself: a named one, one in place, or one that a relative `$ref` reached. */
export interface SchemaRoot {
  /** The name under which `schema:///` reaches it. */
  readonly name: string | undefined
  readonly node: Node
  /** The file whose root `#` means in it; without, `#` means what was named, written in place or included. */
  readonly file: string | undefined
  /** `$schema` of the file of which it is a part. */
  readonly version?: string | undefined
  /** JSON pointer to where it stands in what it is written into; mostly empty. */
  readonly prefix: string
  /** Where each of its sub-schemas stands in the output. */
  readonly pointers: Map<Node, string>
  readonly anchors: Map<string, Node>
}

/** All schemas that apply to the same value: one and what stands in its `allOf`, `anyOf`, `if` and the like. */
export interface Level {
  readonly properties: Set<string>
  readonly required: ScalarNode[]
  readonly references: ReferenceUse[]
  /** Where it says that the value may be an array. */
  readonly arrays: Span[]
  /** Levels of the values within the value. */
  readonly parts: Level[]
  /** There may be properties that are not listed. */
  open: boolean
  /** Something limits how many items an array has. */
  isLimited: boolean
}

/** A `$ref` whose target is looked for when all schemas are known. */
export interface ReferenceUse {
  readonly text: string
  readonly at: ScalarNode
  readonly root: SchemaRoot
  /** What `#` means there. */
  readonly base: Node
  readonly level: Level
  readonly output: Record<string, unknown>
}

/** What a `$ref` leads to. */
export interface Resolved {
  readonly root: SchemaRoot
  readonly node: Node
}

export interface Walking {
  readonly loading: Loading
  readonly levels: Map<Node, Level>
  readonly references: ReferenceUse[]
  /** What to write instead of a text that stands where a schema should. */
  readonly hintFor: (text: string) => string | undefined
}

type Dialect = '2020-12' | 'draft-07'

interface Spot {
  readonly root: SchemaRoot
  readonly base: Node
  readonly dialect: Dialect
  readonly pointer: string
  readonly level: Level
  /** Types that the schemas around it leave for the value. */
  readonly types: readonly string[] | undefined
}

/** Checks a schema with all that stands in it, and makes it JSON Schema 2020-12 without `$schema`, `$id` and anchors. */
export function walkSchema(walking: Walking, root: SchemaRoot): JsonSchema {
  const dialect = parseDialect(root.version ?? '') ?? '2020-12'
  const spot = { root, base: root.node, dialect, pointer: root.prefix, types: undefined } as const
  return walk(walking, root.node, { ...spot, level: makeLevel() })
}

/** Takes a schema's name, where a schema could stand, as a `$ref` to it. */
export function walkName(walking: Walking, root: SchemaRoot, at: ScalarNode): JsonSchema {
  const level = makeLevel()
  const output = {}
  root.pointers.set(at, root.prefix)
  walking.levels.set(at, level)
  noteReference(walking, { text: `schema:///${String(at.value)}`, at, root, base: at, level, output })
  return output
}

function noteReference(walking: Walking, use: ReferenceUse): void {
  use.output['$ref'] = use.text
  use.level.references.push(use)
  walking.references.push(use)
}

function makeLevel(): Level {
  return {
    properties: new Set(),
    required: [],
    references: [],
    arrays: [],
    parts: [],
    open: false,
    isLimited: false,
  }
}

function walk(walking: Walking, node: Node, spot: Spot): JsonSchema {
  spot.root.pointers.set(node, spot.pointer)
  walking.levels.set(node, spot.level)
  if (node.kind === 'scalar' && typeof node.value === 'boolean') return node.value
  if (node.kind !== 'map') {
    spot.level.open = true
    if (node.kind !== 'broken') reportNoSchema(walking, node)
    return true
  }
  const isBase = node === spot.base || node.included === true
  const base = isBase ? node : spot.base
  const dialect = readDialect(walking, node, { isBase, dialect: spot.dialect })
  return walkMap(walking, node, { ...spot, base, dialect })
}

function reportNoSchema({ loading, hintFor }: Walking, node: Node): void {
  const problem = `A JSON Schema must be a map, true or false, not ${describeNode(node)}`
  const text = textOf(node)
  const isType = typeNames.some((name) => name === text)
  const hint = isType ? `Write { type: ${text} }` : text === undefined ? undefined : hintFor(text)
  loading.report.add({ code: 'WP_DEFINITION_SCHEMA_INVALID', at: node, parameters: { problem }, hint })
}

const dialects: Readonly<Record<string, Dialect>> = {
  'https://json-schema.org/draft/2020-12/schema': '2020-12',
  'http://json-schema.org/draft-07/schema': 'draft-07',
  'https://json-schema.org/draft-07/schema': 'draft-07',
}

function parseDialect(text: string): Dialect | undefined {
  return dialects[text.replace(/#$/, '')]
}

function readDialect(
  { loading }: Walking,
  node: MapNode,
  { isBase, dialect }: { isBase: boolean; dialect: Dialect },
): Dialect {
  const at = node.entries.get('$schema')?.value
  const text = textOf(at)
  if (at === undefined || text === undefined) return dialect
  const found = parseDialect(text)
  if (isBase && found !== undefined) return found
  const problem = isBase
    ? `"${text}" is not a supported version of JSON Schema`
    : '"$schema" is only allowed at the top of a schema'
  const hint = isBase
    ? 'Supported versions: https://json-schema.org/draft/2020-12/schema and http://json-schema.org/draft-07/schema#'
    : 'Remove it; the version of the enclosing schema applies'
  loading.report.add({ code: 'WP_DEFINITION_SCHEMA_INVALID', at, parameters: { problem }, hint })
  return dialect
}

const dropped = new Set(['$schema', '$id', '$anchor', '$comment'])

function walkMap(walking: Walking, node: MapNode, spot: Spot): JsonSchema {
  const { report } = walking.loading
  const checking = { report, code: 'WP_DEFINITION_SCHEMA_INVALID' } as const
  const shape = spot.dialect === '2020-12' ? schema2020 : schemaDraft07
  checkStructure(node, shape, { label: { name: 'A JSON Schema', at: node }, checking })
  if (report.isUnclear(node)) Object.assign(spot.level, { open: true, isLimited: true })
  const types = checkStrict(node, { types: spot.types, isDraft07: spot.dialect === 'draft-07', report })
  collectLevel(node, spot.level)
  noteAnchor(walking, node, spot)
  const output: Record<string, unknown> = {}
  for (const entry of node.entries.values()) {
    if (entry.key === '$ref') addReference(walking, entry, { ...spot, output })
    else if (!dropped.has(entry.key)) writeKeyword(walking, entry, { ...spot, types, output, node })
  }
  return output
}

function collectLevel(node: MapNode, level: Level): void {
  for (const { key } of entriesOf(node.entries.get('properties')?.value)) level.properties.add(key)
  for (const item of itemsOf(node.entries.get('required')?.value)) {
    if (item.kind === 'scalar' && typeof item.value === 'string') level.required.push(item)
  }
  for (const keyword of ['additionalProperties', 'unevaluatedProperties', 'patternProperties']) {
    const value = node.entries.get(keyword)?.value
    if (value !== undefined && !isFalse(value)) level.open = true
  }
  collectArray(node, level)
}

function collectArray({ entries }: MapNode, level: Level): void {
  const type = entries.get('type')?.value
  if (type !== undefined && [textOf(type), ...textsOf(type)].includes('array')) level.arrays.push(type)
  // An array that ends with its tuple has as many items as that.
  const ends = ['items', 'additionalItems', 'unevaluatedItems'].some((key) => isFalse(entries.get(key)?.value))
  if (ends || ['maxItems', 'const', 'enum'].some((key) => entries.has(key))) level.isLimited = true
}

function isFalse(node: Node | undefined): boolean {
  return node?.kind === 'scalar' && node.value === false
}

function noteAnchor({ loading }: Walking, node: MapNode, { root, base }: Spot): void {
  const id = node.entries.get('$id')?.value
  const idText = textOf(id)
  const anchor =
    textOf(node.entries.get('$anchor')?.value) ?? (idText?.startsWith('#') === true ? idText.slice(1) : undefined)
  if (anchor !== undefined) root.anchors.set(anchor, node)
  if (id === undefined || idText === undefined || idText.startsWith('#') || node === base) return
  const problem = '"$id" is only allowed at the top of a schema'
  const hint = 'Name the schema under "schema:" and refer to it as schema:///NAME'
  loading.report.add({ code: 'WP_DEFINITION_SCHEMA_INVALID', at: id, parameters: { problem }, hint })
}

function addReference(walking: Walking, { value }: Entry, spot: Spot & { output: Record<string, unknown> }): void {
  const text = textOf(value)
  if (value.kind !== 'scalar' || text === undefined) return
  const { root, base, level, output } = spot
  noteReference(walking, { text, at: value, root, base, level, output })
}

interface Writing extends Spot {
  readonly output: Record<string, unknown>
  readonly node: MapNode
}

function writeKeyword(walking: Walking, entry: Entry, writing: Writing): void {
  const { output, pointer, dialect } = writing
  const children = childrenOf(entry, { isDraft07: dialect === 'draft-07', map: writing.node })
  if (children === undefined) {
    output[entry.key] = toValue(entry.value)
    return
  }
  for (const child of children) {
    const made = walkChild(walking, child, { ...writing, pointer: pointer + makePointer(child.path) })
    write(output, child, made)
  }
}

function walkChild(walking: Walking, { node, here, path }: Child, spot: Spot): unknown {
  if (node === undefined) return undefined
  if (here) {
    const known = spot.level.arrays.length
    const made = walk(walking, node, spot)
    if (conditions.has(path[0])) spot.level.arrays.splice(known)
    return made
  }
  const level = makeLevel()
  // A definition is a part only of what refers to it.
  if (!definitions.has(path[0])) spot.level.parts.push(level)
  return walk(walking, node, { ...spot, level, types: undefined })
}

/** What they say of the value need not be so. */
const conditions: ReadonlySet<string> = new Set(['not', 'if'])
const definitions: ReadonlySet<string> = new Set(['$defs', 'definitions'])

/** Puts a made sub-schema, or the plain value that stands in its place, below its path. */
function write(output: Record<string, unknown>, { path, plain, empty }: Child, made: unknown): void {
  const [keyword = '', key] = path
  if (empty !== undefined) Object.assign(output, { [keyword]: empty })
  else if (key === undefined) output[keyword] = made ?? plain
  else if (typeof key === 'number') ((output[keyword] ??= []) as unknown[])[key] = made ?? plain
  else setOwn((output[keyword] ??= {}) as Record<string, unknown>, key, made ?? plain)
}

/** As a property of its own, also if it is called `__proto__`. */
function setOwn(target: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true })
}
