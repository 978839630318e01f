import type { JsonSchema } from '../contract/index.ts'
import { checkStructure } from './check-structure.ts'
import { makePointer } from '../schema/index.ts'
import type { LoadContext } from './load-context.ts'
import {
  describeNode,
  entriesOf,
  itemsOf,
  textOf,
  textsOf,
  toValue,
  valueOf,
  type Entry,
  type MapNode,
  type Node,
  type ScalarNode,
} from './node.ts'
import { schema2020, schemaDraft07, typeNames } from './schema-language.ts'
import { childrenOf, type Child } from './schema-keywords.ts'
import type { Span } from './source.ts'
import { checkStrict } from './strict-schema.ts'

/** A root schema: named, inline, or reached by a relative `$ref`. */
export interface SchemaRoot {
  /** Its name in `schema:///NAME`. */
  readonly name: string | undefined
  readonly node: Node
  /** The file whose root is the target of `#`; if undefined, `#` is the named, inline or included schema. */
  readonly file: string | undefined
  /** `$schema` of the file that contains it. */
  readonly version?: string | undefined
  /** Its JSON pointer in the enclosing schema, usually empty. */
  readonly prefix: string
  /** The JSON pointer of each sub-schema in the output. */
  readonly pointers: Map<Node, string>
  readonly anchors: Map<string, Node>
}

/** All schemas that apply to the same value: a schema and its `allOf`, `anyOf`, `if` and similar sub-schemas. */
export interface Level {
  readonly properties: Set<string>
  readonly required: ScalarNode[]
  readonly references: ReferenceUse[]
  /** Spans that allow the value to be an array. */
  readonly arrays: Span[]
  /** Levels of nested values. */
  readonly parts: Level[]
  /** Whether properties that are not listed are allowed. */
  open: boolean
  /** Whether the number of array items is limited. */
  isLimited: boolean
}

/** A `$ref` whose target is resolved once all schemas are known. */
export interface ReferenceUse {
  readonly text: string
  readonly at: ScalarNode
  readonly root: SchemaRoot
  /** The target of `#`. */
  readonly base: Node
  readonly level: Level
  readonly output: Record<string, unknown>
}

/** The target of a `$ref`. */
export interface Resolved {
  readonly root: SchemaRoot
  readonly node: Node
}

export interface WalkContext {
  readonly loading: LoadContext
  readonly levels: Map<Node, Level>
  readonly references: ReferenceUse[]
  /** Each schema that is a map, with what it was converted to and the root that contains it. */
  readonly written: Map<object, WrittenSchema>
  /** The types of schemas whose other keywords imply them. */
  readonly implied: Map<Node, readonly string[]>
  /** The schemas of files, which were converted before. */
  readonly files: Map<Node, JsonSchema>
  /** What each root was converted to. */
  readonly outputs: Map<SchemaRoot, JsonSchema>
  /** Returns the hint for a text in place of a schema. */
  readonly hintFor: (text: string) => string | undefined
}

/** A schema and where it is written. */
export interface WrittenSchema {
  readonly node: MapNode
  readonly root: SchemaRoot
}

type Dialect = '2020-12' | 'draft-07'

interface WalkPosition {
  readonly root: SchemaRoot
  readonly base: Node
  readonly dialect: Dialect
  readonly pointer: string
  readonly level: Level
  /** The types that enclosing schemas allow for the value. */
  readonly types: readonly string[] | undefined
  /** The schema, or one around it, is that of a condition. */
  readonly isCondition: boolean
}

/** Checks a schema with its sub-schemas and converts it to JSON Schema 2020-12 without `$schema`, `$id` and anchors. */
export function walkSchema(walking: WalkContext, root: SchemaRoot): JsonSchema {
  const dialect = parseDialect(root.version ?? '') ?? '2020-12'
  const position = {
    root,
    base: root.node,
    dialect,
    pointer: root.prefix,
    types: undefined,
    isCondition: false,
  } as const
  const output = walk(walking, root.node, { ...position, level: makeLevel() })
  walking.outputs.set(root, output)
  return output
}

/** Treats the name of a schema, in place of a schema, as a `$ref` to it. */
export function walkName(walking: WalkContext, root: SchemaRoot, at: ScalarNode): JsonSchema {
  const level = makeLevel()
  const output = {}
  root.pointers.set(at, root.prefix)
  walking.levels.set(at, level)
  addReferenceUse(walking, { text: `schema:///${String(at.value)}`, at, root, base: at, level, output })
  return output
}

function addReferenceUse(walking: WalkContext, use: ReferenceUse): void {
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

function walk(walking: WalkContext, node: Node, position: WalkPosition): JsonSchema {
  position.root.pointers.set(node, position.pointer)
  walking.levels.set(node, position.level)
  const file = walking.files.get(node)
  if (file !== undefined) return file
  if (node.kind === 'scalar' && typeof node.value === 'boolean') return node.value
  if (node.kind !== 'map') {
    position.level.open = true
    if (node.kind !== 'broken') reportNotSchema(walking, node)
    return true
  }
  const isBase = node === position.base || node.included === true
  const base = isBase ? node : position.base
  const dialect = readDialect(walking, node, { isBase, dialect: position.dialect })
  return walkMap(walking, node, { ...position, base, dialect })
}

function reportNotSchema({ loading, hintFor }: WalkContext, node: Node): void {
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
  { loading }: WalkContext,
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

function walkMap(walking: WalkContext, node: MapNode, position: WalkPosition): JsonSchema {
  const { report } = walking.loading
  const checking = { report, code: 'WP_DEFINITION_SCHEMA_INVALID' } as const
  const shape = position.dialect === '2020-12' ? schema2020 : schemaDraft07
  checkStructure(node, shape, { label: { name: 'A JSON Schema', at: node }, checking })
  if (report.isUnclear(node)) Object.assign(position.level, { open: true, isLimited: true })
  const isDraft07 = position.dialect === 'draft-07'
  const { types: around, isCondition } = position
  const { types, implied } = checkStrict(node, { types: around, isCondition, isDraft07, report })
  if (implied !== undefined) walking.implied.set(node, implied)
  collectLevel(walking, node, position.level)
  noteAnchor(walking, node, position)
  const output: Record<string, unknown> =
    implied === undefined ? {} : { type: implied.length === 1 ? implied[0] : implied }
  walking.written.set(output, { node, root: position.root })
  for (const entry of node.entries.values()) {
    if (entry.key === '$ref') addReference(walking, entry, { ...position, output })
    else if (!dropped.has(entry.key)) writeKeyword(walking, entry, { ...position, types, output, node })
  }
  return output
}

/** Returns the types that a schema declares or implies. */
export function typesOfSchema({ implied }: Pick<WalkContext, 'implied'>, node: Node): readonly string[] {
  const type = valueOf(node, 'type')
  return implied.get(node) ?? [textOf(type) ?? [], textsOf(type)].flat()
}

function collectLevel(walking: WalkContext, node: MapNode, level: Level): void {
  for (const { key } of entriesOf(node.entries.get('properties')?.value)) level.properties.add(key)
  for (const item of itemsOf(node.entries.get('required')?.value)) {
    if (item.kind === 'scalar' && typeof item.value === 'string') level.required.push(item)
  }
  for (const keyword of ['additionalProperties', 'unevaluatedProperties', 'patternProperties']) {
    const value = node.entries.get(keyword)?.value
    if (value !== undefined && !isFalse(value)) level.open = true
  }
  collectArray(walking, node, level)
}

function collectArray(walking: WalkContext, node: MapNode, level: Level): void {
  const { entries } = node
  const at = entries.get('type')?.value ?? [...entries.values()][0]?.keySpan
  if (at !== undefined && typesOfSchema(walking, node).includes('array')) level.arrays.push(at)
  // An array whose tuple is closed is limited by it.
  const ends = ['items', 'additionalItems', 'unevaluatedItems'].some((key) => isFalse(entries.get(key)?.value))
  if (ends || ['maxItems', 'const', 'enum'].some((key) => entries.has(key))) level.isLimited = true
}

function isFalse(node: Node | undefined): boolean {
  return node?.kind === 'scalar' && node.value === false
}

function noteAnchor({ loading }: WalkContext, node: MapNode, { root, base }: WalkPosition): void {
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

function addReference(
  walking: WalkContext,
  { value }: Entry,
  position: WalkPosition & { output: Record<string, unknown> },
): void {
  const text = textOf(value)
  if (value.kind !== 'scalar' || text === undefined) return
  const { root, base, level, output } = position
  addReferenceUse(walking, { text, at: value, root, base, level, output })
}

interface WriteContext extends WalkPosition {
  readonly output: Record<string, unknown>
  readonly node: MapNode
}

function writeKeyword(walking: WalkContext, entry: Entry, writing: WriteContext): void {
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

function walkChild(walking: WalkContext, { node, sameValue, path }: Child, around: WalkPosition): unknown {
  if (node === undefined) return undefined
  const [keyword] = path
  const position = { ...around, isCondition: around.isCondition || conditions.has(keyword) }
  if (sameValue) {
    const known = position.level.arrays.length
    const made = walk(walking, node, position)
    if (conditions.has(keyword)) position.level.arrays.splice(known)
    return made
  }
  const level = makeLevel()
  // A definition is part of the schemas that refer to it, not of its parent.
  if (!definitions.has(keyword)) position.level.parts.push(level)
  const types = keyword === 'propertyNames' ? ['string'] : undefined
  const isCondition = !definitions.has(keyword) && position.isCondition
  return walk(walking, node, { ...position, level, types, isCondition })
}

/** Their statements about the value, or about an item, may be false. */
const conditions: ReadonlySet<string> = new Set(['not', 'if', 'contains'])
const definitions: ReadonlySet<string> = new Set(['$defs', 'definitions'])

/** Writes a converted sub-schema, or the plain value in its place, at its path. */
function write(output: Record<string, unknown>, { path, plain, empty }: Child, made: unknown): void {
  const [keyword = '', key] = path
  if (empty !== undefined) Object.assign(output, { [keyword]: empty })
  else if (key === undefined) output[keyword] = made ?? plain
  else if (typeof key === 'number') ((output[keyword] ??= []) as unknown[])[key] = made ?? plain
  else setOwn((output[keyword] ??= {}) as Record<string, unknown>, key, made ?? plain)
}

/** Defines an own property, also for the name `__proto__`. */
function setOwn(target: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true })
}
