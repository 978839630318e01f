import type { JsonSchema } from '../contract/index.ts'
import { checkLevels } from './check-levels.ts'
import { parseTarget } from './include.ts'
import { makePointer, parsePointer } from '../schema/index.ts'
import { entriesOf, itemsOf, valueOf, type Node } from './node.ts'
import { openSchema, type Schemas } from './schemas.ts'
import { checkName } from './section.ts'
import { walkSchema, type ReferenceUse, type Resolved, type SchemaRoot } from './walk-schema.ts'

/** The named schemas, and the target of each text that names a schema, in `$ref` or directly. */
export interface ResolvedSchemas {
  readonly named: Readonly<Record<string, JsonSchema>>
  readonly targets: ReadonlyMap<Node, Resolved>
}

/**
 * Resolves every `$ref`, processes files reached by relative ones, and rewrites each as `schema:///NAME` or
 * `#/pointer`. Then runs the checks that need all schemas.
 */
export function resolveSchemas(schemas: Schemas): ResolvedSchemas {
  const { walking, outputs, loading } = schemas
  const resolved = new Map<ReferenceUse, Resolved>()
  // The list grows while it is iterated: a reference may open a file with more references.
  for (let index = 0; index < walking.references.length; index += 1) {
    const use = walking.references[index]!
    const target = resolveReference(schemas, use)
    if (target === undefined) use.level.open = true
    else resolved.set(use, target)
    walkQueue(schemas)
  }
  for (const [use, target] of resolved) writeReference(schemas, use, target)
  checkLevels({ levels: walking.levels, resolved, report: loading.report })
  const targets = new Map([...resolved].map(([use, target]) => [use.at as Node, target]))
  return { named: Object.fromEntries(outputs), targets }
}

function walkQueue({ walking, queue, outputs }: Schemas): void {
  for (let root = queue.shift(); root !== undefined; root = queue.shift())
    outputs.set(root.name!, walkSchema(walking, root))
}

function resolveReference(schemas: Schemas, use: ReferenceUse): Resolved | undefined {
  const { text, at } = use
  if (text.startsWith('schema:')) return resolveNamed(schemas, use)
  if (text.startsWith('#')) return resolveLocal(schemas, use)
  if (/^[a-z][a-z0-9+.-]*:/i.test(text)) {
    return reject(schemas, use, {
      problem: `"${text}" is not supported: schemas are never fetched from a URL`,
      hint: 'Copy the schema into the project and refer to it by relative path or as schema:///NAME',
    })
  }
  if (!/\.(ya?ml|json)(#|$)/.test(text)) {
    const known = schemas.section.entries.has(text.replace(/^\//, ''))
    const hint = known ? `Write schema:///${text.replace(/^\//, '')}` : formsHint
    return reject(schemas, use, { problem: `"${text}" is not a valid reference to a schema`, hint })
  }
  const target = parseTarget(schemas.loading, decodeFile(text), at)
  const root = target === undefined ? undefined : openSchema(schemas, target, at)
  return root === undefined ? undefined : { root, node: root.node }
}

/** A `$ref` is a URI, so a name may contain percent-encoded characters. */
function decodeFile(text: string): string {
  const [name = '', ...fragment] = text.split('#')
  try {
    return [decodeURIComponent(name), ...fragment].join('#')
  } catch {
    return text
  }
}

const formsHint = 'Write schema:///NAME, #/json/pointer or a relative file path'

function reject(
  { loading }: Schemas,
  { at }: ReferenceUse,
  words: { problem: string; hint?: string | undefined },
): undefined {
  const parameters = { problem: words.problem }
  loading.report.add({ code: 'WP_DEFINITION_SCHEMA_REFERENCE', at, parameters, hint: words.hint })
}

function resolveNamed(schemas: Schemas, use: ReferenceUse): Resolved | undefined {
  const [, name, fragment = ''] = /^schema:\/\/\/([^#/]+)(?:#(.*))?$/s.exec(use.text) ?? []
  if (name === undefined) {
    const bare = /^schema:\/*([^#/]+)/.exec(use.text)?.[1]
    const hint = bare === undefined ? formsHint : `Write schema:///${bare}`
    return reject(schemas, use, { problem: `"${use.text}" is not a valid reference to a schema`, hint })
  }
  if (!checkName(schemas.section, name, { at: use.at, report: schemas.loading.report })) return undefined
  const root = schemas.named.get(name)!
  return findFragment(schemas, use, { root, base: root.node, fragment })
}

function resolveLocal(schemas: Schemas, use: ReferenceUse): Resolved | undefined {
  const { root, base, text, at } = use
  const fragment = text.slice(1)
  if (root.file === undefined || base !== root.node) return findFragment(schemas, use, { root, base, fragment })
  const pointer = parsePointer(fragment)
  const whole = { text, file: root.file, pointer: pointer ?? [] }
  const opened = openSchema(schemas, whole, at)
  if (opened === undefined) return undefined
  if (pointer !== undefined) return { root: opened, node: opened.node }
  walkQueue(schemas)
  return findFragment(schemas, use, { root: opened, base: opened.node, fragment })
}

interface Fragment {
  readonly root: SchemaRoot
  readonly base: Node
  readonly fragment: string
}

function findFragment(schemas: Schemas, use: ReferenceUse, { root, base, fragment }: Fragment): Resolved | undefined {
  const pointer = parsePointer(fragment)
  const node = pointer === undefined ? root.anchors.get(fragment) : follow(base, pointer)
  if (node?.kind === 'broken') return undefined
  if (node !== undefined) return { root, node }
  return reject(schemas, use, {
    problem: `The target of "${use.text}" does not exist`,
    hint:
      pointer === undefined
        ? undefined
        : (hintForKey(schemas, base, pointer) ?? hintForName(schemas, pointer) ?? hintForBase(base)),
  })
}

/** Suggests a named schema for pointers in the style of OpenAPI and other tools. */
function hintForName({ section }: Schemas, pointer: readonly string[]): string | undefined {
  const [, place, name = ''] =
    /^\/(components\/schemas|schemas?|definitions|\$defs)\/([^/]+)$/.exec(makePointer(pointer)) ?? []
  if (section.entries.has(name)) return `Write schema:///${name}`
  return place !== undefined && !/def/.test(place) ? 'Write schema:///NAME with a name under "schema:"' : undefined
}

/** Suggests a key if the pointer has no target. */
function hintForKey({ loading }: Schemas, base: Node, pointer: readonly string[]): string | undefined {
  for (const [index, key] of pointer.entries()) {
    const around = follow(base, pointer.slice(0, index))
    if (follow(base, pointer.slice(0, index + 1)) !== undefined) continue
    const keys = entriesOf(around).map((entry) => entry.key)
    const other = { $defs: 'definitions', definitions: '$defs' }[key]
    const suggestion = other !== undefined && keys.includes(other) ? other : loading.report.findNearest(key, keys)
    if (suggestion === undefined) return undefined
    return `Did you mean "#${makePointer([...pointer.slice(0, index), suggestion, ...pointer.slice(index + 1)])}"?`
  }
  return undefined
}

function hintForBase(base: Node): string | undefined {
  return base.included === true
    ? 'After !include, "#" refers to the included part. Use a relative $ref to keep the whole file'
    : undefined
}

function follow(base: Node, pointer: readonly string[]): Node | undefined {
  let node: Node | undefined = base
  for (const key of pointer)
    node = /^(0|[1-9]\d*)$/.test(key) && node?.kind === 'list' ? itemsOf(node)[Number(key)] : valueOf(node, key)
  return node
}

function writeReference(schemas: Schemas, use: ReferenceUse, { root, node }: Resolved): void {
  const pointer = root.pointers.get(node)
  if (pointer === undefined) {
    const problem = `The target of "${use.text}" is not a schema`
    reject(schemas, use, { problem, hint: 'Refer to a schema, for example under "$defs"' })
    return
  }
  if (root.name === undefined) use.output['$ref'] = `#${pointer}`
  else use.output['$ref'] = pointer === '' ? `schema:///${root.name}` : `schema:///${root.name}#${pointer}`
}
