import type { JsonSchema } from '../contract/index.ts'
import { compose } from './compose.ts'
import { openTarget, type Target } from './include.ts'
import type { Loading } from './loading.ts'
import { textOf, type Node } from './node.ts'
import { checkName, type Section } from './section.ts'
import type { Span } from './source.ts'
import { walkName, walkSchema, type SchemaRoot, type Walking } from './walk-schema.ts'

/** All schemas of a definition: the named ones, those in place, and those that a relative `$ref` reaches. */
export interface Schemas {
  readonly loading: Loading
  readonly walking: Walking
  readonly section: Section
  readonly named: Map<string, SchemaRoot>
  readonly outputs: Map<string, JsonSchema>
  /** Roots by the place of their text, so that one text has one name. */
  readonly byPlace: Map<string, SchemaRoot>
  /** Reached by a relative `$ref` and not walked yet. */
  readonly queue: SchemaRoot[]
}

export function makeSchemas(loading: Loading, section: Section): Schemas {
  const hintFor = (text: string): string | undefined =>
    section.entries.has(text) ? `Write { $ref: schema:///${text} }` : undefined
  const walking = { loading, levels: new Map(), references: [], hintFor }
  const schemas: Schemas = {
    loading,
    walking,
    section,
    named: new Map(),
    outputs: new Map(),
    byPlace: new Map(),
    queue: [],
  }
  for (const { key, value } of section.entries.values()) addRoot(schemas, key, { node: value, file: undefined })
  for (const root of schemas.named.values()) schemas.outputs.set(root.name!, makePlace(schemas, root.node, root))
  return schemas
}

/** The schema of a place that names one, or holds one; `prefix` is where it is written to in a schema around it. */
export function makeSchema(schemas: Schemas, node: Node, prefix = ''): JsonSchema {
  return makePlace(schemas, node, { ...makeRoot(undefined, node, undefined), prefix })
}

function makePlace({ loading, walking, section }: Schemas, node: Node, root: SchemaRoot): JsonSchema {
  const name = textOf(node)
  if (name === undefined || node.kind !== 'scalar') return walkSchema(walking, root)
  if (section.entries.has(name)) return walkName(walking, root, node)
  if (/\.(ya?ml|json)$/.test(name)) {
    const hint = `To include a file: !include ${name}`
    loading.report.add({ code: section.code, at: node, parameters: { name }, hint })
  } else {
    checkName(section, name, { at: node, report: loading.report })
  }
  return true
}

function makeRoot(name: string | undefined, node: Node, file: string | undefined): SchemaRoot {
  return { name, node, file, prefix: '', pointers: new Map(), anchors: new Map() }
}

function addRoot(schemas: Schemas, name: string, { node, file }: { node: Node; file: string | undefined }): SchemaRoot {
  const root = makeRoot(name, node, file)
  schemas.named.set(name, root)
  schemas.byPlace.set(placeOf(node), root)
  return root
}

function placeOf({ origin, start, end }: Span): string {
  return `${origin.source.file}:${start}:${end}`
}

/** The schema in a file that a relative `$ref` names; it gets a name of its own, made from its path. */
export function openSchema(schemas: Schemas, target: Target, at: Span): SchemaRoot | undefined {
  const { loading, byPlace, named, queue } = schemas
  const located = openTarget(loading, target, at)
  if (located === undefined) return undefined
  const [start = 0, end = start] = located.node?.range ?? []
  const known = byPlace.get(placeOf({ origin: located.origin, start, end }))
  if (known !== undefined) return known
  const node = compose(located.node, { loading, origin: located.origin, path: new Set() })
  const root = addRoot(schemas, freeName(target, named), { node, file: located.origin.source.file })
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
