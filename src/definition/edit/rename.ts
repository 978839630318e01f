import type { JsonSchema } from '../../contract/index.ts'
import { listPathParameters } from '../../kit/index.ts'
import { parsePointer } from '../../schema/index.ts'
import type { ClassCatalog } from '../class-catalog.ts'
import { typeNames } from '../schema-language.ts'
import { childOf, renameKey, replaceText } from './change-entry.ts'
import { collectEdited, type EditedFiles } from './edit-definition.ts'
import { childrenOf, linksOf, pointerTo, refuse, rootFile, type Cursor, type Editing } from './editing.ts'
import { toFullPath } from '../route-keys.ts'
import { follow, walk, walkSafely } from './walk.ts'
import { listReached } from './references.ts'
import { placeOf, toPlain } from './find-value.ts'
import type { Tree } from './source-tree.ts'

/** A place that names what is renamed. */
export interface Use {
  /** JSON pointer of `waypost.yml`; undefined in a file that only a `$ref` reaches. */
  readonly at: string | undefined
  /** `file:line` */
  readonly source: string
}

export interface Renamed {
  readonly files: EditedFiles
  /** The places that name it, which are changed with it. */
  readonly uses: readonly Use[]
}

const kinds = ['schema', 'scope', 'event', 'action', 'connection', 'rate', 'listener', 'cronjob', 'routes'] as const
type Kind = (typeof kinds)[number]

/**
 * Renames a schema, scope, event, action, connection, rate, listener, cronjob or route, and updates all places that name it. With
 * the path of a route its parameters are renamed. Code is not changed.
 * @param at the section and the name, for example `['schema', 'Todo']`; an undeclared scope has only uses
 * @param options `classes` finds the names in configs of classes
 * @throws WP_DEFINITION_EDIT_REFUSED also if the new name exists
 */
export function rename(
  editing: Editing,
  at: readonly string[],
  { to, classes }: { readonly to: string; readonly classes?: ClassCatalog | undefined },
): Renamed {
  const work = copyOf(editing)
  const reached = listReached(work)
  const { kind, name, isDeclared, cursor } = findEntry(work, at)
  if (walkSafely(work, [kind, to]) !== undefined) throw refuse(work, cursor, `${pointerTo([kind, to])} already exists`)
  const uses = findUses(work, { kind, name, to, classes })
  const listed = describeUses(work, uses)
  // Keys after texts, so that the places of the texts stay.
  for (const { cursor: place, text, isKey } of uses) (isKey ? renameKey : replaceText)(work, place, text)
  if (kind === 'routes' && isDeclared) renameParameters(work, { name, to })
  if (isDeclared) renameEntry(work, at, to)
  return { files: collectEdited(editing, work, reached), uses: listed }
}

/** Renames the key of an entry. That of a route in a group is the rest of its path. @throws WP_DEFINITION_EDIT_REFUSED */
export function renameEntry(work: Editing, at: readonly string[], to: string): void {
  const { cursor, keys } = walk(work, at)
  const group = toFullPath(keys.slice(0, -1).concat('')).at(-1)!
  if (keys.length === at.length) return renameKey(work, cursor, to)
  if (!to.startsWith(`${group}/`))
    throw refuse(work, cursor, `it is in the group ${group}, and ${to} does not begin with that path`)
  renameKey(work, cursor, to.slice(group.length))
}

/**
 * Lists the places that name an entry, which `rename` would change.
 * @throws WP_DEFINITION_EDIT_REFUSED if the entry does not exist, or is of another kind than those of `rename`
 */
export function listUses(
  editing: Editing,
  at: readonly string[],
  { classes }: { readonly classes?: ClassCatalog | undefined } = {},
): readonly Use[] {
  const work = copyOf(editing)
  listReached(work)
  const { kind, name } = findEntry(work, at)
  return describeUses(work, findUses(work, { kind, name, to: name, classes }))
}

function copyOf(editing: Editing): Editing {
  return { ...editing, files: new Map(editing.files) }
}

function findEntry(work: Editing, at: readonly string[]) {
  const [section = '', name = ''] = at
  const kind = kinds.find((one) => one === section)
  const { depth, cursor, keys } = walk(work, at)
  const root: Cursor = { file: rootFile, steps: [] }
  if (kind === undefined || at.length !== 2) throw refuse(work, root, `${pointerTo(at)} cannot be renamed`)
  const isDeclared = depth === keys.length
  if (!isDeclared && kind !== 'scope') throw refuse(work, cursor, `${pointerTo(at)} does not exist`)
  return { kind, name, isDeclared, cursor }
}

function describeUses(work: Editing, uses: readonly FoundUse[]): readonly Use[] {
  return uses.map(({ keys, cursor }): Use => {
    const { file, line } = placeOf(work, cursor)
    return { at: keys === undefined ? undefined : pointerTo(keys), source: `${file}:${line}` }
  })
}

interface Wanted {
  readonly kind: Kind
  readonly name: string
  readonly to: string
  readonly classes: ClassCatalog | undefined
}

interface FoundUse {
  readonly cursor: Cursor
  readonly keys: readonly string[] | undefined
  readonly text: string
  /** Whether it is the key of the place. */
  readonly isKey?: boolean
}

/** A value of the definition and its keys. */
export interface At {
  readonly cursor: Cursor
  readonly keys: readonly string[]
  readonly tree: Tree
}

export function findUses(work: Editing, wanted: Wanted): readonly FoundUse[] {
  const { kind, name, to } = wanted
  const found = new Map<string, FoundUse>()
  const add = ({ cursor, keys, text = to, isKey = false }: Partial<FoundUse> & Pick<FoundUse, 'cursor'>): void => {
    const place = `${isKey} ${cursor.file} ${cursor.steps.join('.')}`
    if (found.get(place)?.keys === undefined) found.set(place, { cursor, keys, text, isKey })
  }
  const addText = ({ tree, ...at }: At): void => {
    if (tree.kind === 'scalar' && tree.value === name) add(at)
  }
  for (const pattern of patterns[kind]) for (const at of match(work, pattern)) addText(at)
  if (kind === 'schema') {
    const parameters = ['routes/*/path', 'routes/*/methods/*/parameters'].flatMap((pattern) => match(work, pattern))
    for (const at of parameters) if (!isSchema(at.tree)) for (const one of childrenAt(work, at)) addText(one)
    for (const one of listReferences(work, name)) add({ ...one, text: `schema:///${to}${one.fragment}` })
  }
  const { classes } = wanted
  if (classes === undefined) return [...found.values()]
  for (const [place, of] of configPlaces) {
    for (const at of match(work, place)) {
      const schema = findConfigSchema(work, at, { of, classes })
      const config = stepInto(work, at, 'config')
      if (schema === undefined || config === undefined) continue
      for (const one of listAnnotated(work, config, schema)) if (one.names === kind && one.name === name) add(one)
    }
  }
  return [...found.values()]
}

/** The keys of the texts that name something of a kind; `*` is any key. */
const patterns: Readonly<Record<Kind, readonly string[]>> = {
  schema: [
    'routes/*/path',
    'routes/*/methods/*/parameters',
    'routes/*/methods/*/request',
    'routes/*/methods/*/response',
    'routes/*/methods/*/responses/*',
    'routes/*/methods/*/request/content/*',
    'routes/*/methods/*/response/content/*',
    'routes/*/methods/*/responses/*/content/*',
    'event/*/schema',
    'schema/*',
  ],
  scope: ['routes/*/scopes/*', 'routes/*/methods/*/scopes/*', 'event/*/scopes/*', 'config/scopes_default/*'],
  event: ['routes/*/methods/*/dispatch', 'routes/*/methods/*/dispatch/event', 'listener/*/event'],
  action: ['routes/*/methods/*/action', 'listener/*/action', 'cronjob/*/action'],
  connection: ['rate/*/connection'],
  rate: ['routes/*/rate', 'routes/*/methods/*/rate'],
  listener: [],
  cronjob: [],
  routes: [],
}

export const configPlaces: readonly (readonly [string, 'connections' | 'actions' | 'plugins'])[] = [
  ['connection/*', 'connections'],
  ['action/*', 'actions'],
  ['routes/*/methods/*/action', 'actions'],
  ['listener/*/action', 'actions'],
  ['cronjob/*/action', 'actions'],
  ['plugins/*', 'plugins'],
]

/**
 * Returns the values at all keys that match a pattern, through includes and aliases. Routes in groups match like others,
 * with their full path as the key.
 */
export function match(work: Editing, pattern: string): readonly At[] {
  return placesOfRoutes(pattern)
    .flatMap((one) => matchExactly(work, one))
    .map((at) => ({ ...at, keys: toFullPath(at.keys) }))
}

/** Returns a pattern for the routes outside of groups, and those for routes in groups, and in groups in groups. */
function placesOfRoutes(pattern: string): readonly string[] {
  if (!/^routes\/\*(?!\/routes)/.test(pattern)) return [pattern]
  return ['', 'routes/*/', 'routes/*/routes/*/'].map((groups) => groups + pattern)
}

function matchExactly(work: Editing, pattern: string): readonly At[] {
  const root = follow(work, { file: rootFile, steps: [] })
  let places: readonly At[] =
    root === undefined ? [] : [{ cursor: root, keys: [], tree: linksOf(work, root).at(-1)!.tree }]
  for (const step of pattern.split('/')) {
    places = places.flatMap((at) => (step === '*' ? childrenAt(work, at) : (stepInto(work, at, step) ?? [])))
  }
  return places
}

export function childrenAt(work: Editing, { cursor, keys, tree }: At): readonly At[] {
  return childrenOf(tree).flatMap((_, index) => {
    const at = follow(work, { file: cursor.file, steps: [...cursor.steps, index] })
    const key = tree.kind === 'map' ? tree.entries[index]!.key : String(index)
    return at === undefined ? [] : [{ cursor: at, keys: [...keys, key], tree: linksOf(work, at).at(-1)!.tree }]
  })
}

export function stepInto(work: Editing, at: At, key: string): At | undefined {
  const index = at.tree.kind === 'map' ? at.tree.entries.findIndex((entry) => entry.key === key) : -1
  return index === -1 ? undefined : childrenAt(work, at)[index]
}

/** Whether a map in place of parameters is a schema; otherwise it is a map of name to schema. */
function isSchema(tree: Tree): boolean {
  if (tree.kind !== 'map') return true
  const valueOf = (key: string): Tree | undefined => tree.entries.find((entry) => entry.key === key)?.value
  const type = valueOf('type')
  const isType = type?.kind === 'list' || (type?.kind === 'scalar' && typeNames.some((one) => one === type.value))
  return (
    isType || ['$ref', 'allOf', 'anyOf', 'oneOf', 'required', 'properties'].some((key) => valueOf(key) !== undefined)
  )
}

interface ReferenceUse {
  readonly cursor: Cursor
  readonly keys?: readonly string[]
  readonly fragment: string
}

/** Returns each `$ref: schema:///NAME` of all files. */
function listReferences(work: Editing, name: string): readonly ReferenceUse[] {
  const found: ReferenceUse[] = []
  for (const { file, text, tree } of listReached(work)) {
    if (!text.includes('schema:') || 'problem' in tree) continue
    const visit = (at: Tree, steps: readonly number[]): void => {
      if (at.kind === 'map') {
        for (const [index, { key, value }] of at.entries.entries()) {
          const fragment = key === '$ref' && value.kind === 'scalar' ? fragmentOf(String(value.value), name) : undefined
          if (fragment !== undefined) found.push({ cursor: { file, steps: [...steps, index] }, fragment })
        }
      }
      for (const [index, { value }] of childrenOf(at).entries()) visit(value, [...steps, index])
    }
    visit(tree, [])
  }
  return found.map((use) => ({ ...use, ...keysOfPlace(work, use.cursor) }))
}

/** Returns what follows the name in a reference to it. */
function fragmentOf(reference: string, name: string): string | undefined {
  const [, found, fragment = ''] = /^schema:\/\/\/([^#/]+)(#.*)?$/s.exec(reference) ?? []
  return found === name ? fragment : undefined
}

/** Returns the keys of a place in `waypost.yml`, or in a file that one of its entries includes as a whole. */
function keysOfPlace(work: Editing, { file, steps }: Cursor): { keys?: readonly string[] } {
  const keys = steps.map((step, depth) => {
    const { tree } = linksOf(work, { file, steps: steps.slice(0, depth) }).at(-1)!
    return tree.kind === 'map' ? tree.entries[step]!.key : String(step)
  })
  if (file === rootFile) return { keys }
  for (const pattern of ['*', '*/*']) {
    for (const at of match(work, pattern)) {
      if (at.cursor.file === file && at.cursor.steps.length === 0) return { keys: [...at.keys, ...keys] }
    }
  }
  return {}
}

export function findConfigSchema(
  work: Editing,
  at: At,
  { of, classes }: { readonly of: 'connections' | 'actions' | 'plugins'; readonly classes: ClassCatalog },
): JsonSchema | undefined {
  const named = stepInto(work, at, of === 'plugins' ? 'name' : 'class')
  const name = named?.tree.kind === 'scalar' ? String(named.tree.value) : ''
  const table: Readonly<Record<string, { readonly config: JsonSchema }>> = classes[of] ?? {}
  return Object.hasOwn(table, name) ? table[name]!.config : undefined
}

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A text or a key of a config that names something. */
export interface Annotated {
  /** What it names: `x-waypost` in the schema. */
  readonly names: unknown
  /** Which column of the table of an action it is: `x-waypost-other` in the schema. */
  readonly other?: unknown
  readonly name: string
  readonly cursor: Cursor
  /** The keys of the value. */
  readonly keys: readonly string[]
  readonly isKey: boolean
}

/** Returns what a config names, as the schema of its class says. */
export function listAnnotated(work: Editing, config: At, root: JsonSchema): readonly Annotated[] {
  const found: Annotated[] = []
  const visit = (at: At, schema: unknown, depth: number): void => {
    if (!isObject(schema) || depth > 50) return
    const { cursor, keys, tree } = at
    const names = schema['x-waypost']
    const other = schema['x-waypost-other']
    if ((names ?? other) !== undefined && tree.kind === 'scalar' && typeof tree.value === 'string')
      found.push({ names, other, name: tree.value, cursor, keys, isKey: false })
    for (const keyword of ['allOf', 'anyOf', 'oneOf']) {
      const list = schema[keyword]
      if (Array.isArray(list)) for (const one of list as unknown[]) visit(at, one, depth + 1)
    }
    for (const keyword of ['then', 'else', 'if']) visit(at, schema[keyword], depth + 1)
    if (typeof schema['$ref'] === 'string') visit(at, resolveLocal(root, schema['$ref']), depth + 1)
    const keyNames = isObject(schema['propertyNames']) ? schema['propertyNames']['x-waypost'] : undefined
    if (keyNames !== undefined && tree.kind === 'map')
      for (const [index, { key }] of tree.entries.entries())
        found.push({ names: keyNames, name: key, cursor: childOf(cursor, index), keys: [...keys, key], isKey: true })
    for (const child of childrenAt(work, at))
      for (const below of schemasBelow(schema, at, child.keys.at(-1)!)) visit(child, below, depth + 1)
  }
  visit(config, root, 0)
  return found
}

/** Returns the schemas of an item or a property. */
function schemasBelow(
  schema: Readonly<Record<string, unknown>>,
  { tree }: Pick<At, 'tree'>,
  key: string,
): readonly unknown[] {
  if (tree.kind === 'list') {
    const prefix = Array.isArray(schema['prefixItems']) ? (schema['prefixItems'] as unknown[]) : []
    return [prefix[Number(key)] ?? schema['items']]
  }
  const [properties, patterns] = [schema['properties'], schema['patternProperties']]
  if (isObject(properties) && Object.hasOwn(properties, key)) return [properties[key]]
  return [...(isObject(patterns) ? Object.values(patterns) : []), schema['additionalProperties']]
}

function resolveLocal(root: JsonSchema, reference: string): unknown {
  const keys = reference.startsWith('#') ? parsePointer(reference.slice(1)) : undefined
  return keys?.reduce<unknown>((at, key) => (isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined), root)
}

/** Renames the parameters of a path in its schema: those whose place in the path is the same. */
export function renameParameters(work: Editing, { name, to }: { readonly name: string; readonly to: string }): void {
  const [before, after] = [listPathParameters(name), listPathParameters(to)]
  if (before.length !== after.length) return
  const changed = before.flatMap((one, index) => (one === after[index] ? [] : [[one, after[index]!] as const]))
  const at = match(work, 'routes/*/path').find(({ keys }) => keys[1] === name)
  if (at === undefined || changed.length === 0 || at.tree.kind !== 'map') return
  const isWhole = isSchema(at.tree)
  const map = isWhole ? stepInto(work, at, 'properties') : at
  const required = isWhole ? toPlain(work, at.cursor) : undefined
  // Through names that no parameter has, so that two can be exchanged.
  const steps = [
    ...changed.map(([one]) => [one, `${one}_before`] as const),
    ...changed.map(([one, other]) => [`${one}_before`, other] as const),
  ]
  for (const [one, other] of steps) {
    const tree = map === undefined ? undefined : linksOf(work, map.cursor).at(-1)!.tree
    const index = tree?.kind === 'map' ? tree.entries.findIndex(({ key }) => key === one) : -1
    if (map !== undefined && index !== -1)
      renameKey(work, { file: map.cursor.file, steps: [...map.cursor.steps, index] }, other)
  }
  if (!isObject(required) || !Array.isArray(required['required'])) return
  const list = stepInto(work, { ...at, tree: linksOf(work, at.cursor).at(-1)!.tree }, 'required')
  for (const item of list === undefined ? [] : childrenAt(work, list)) {
    const found = changed.find(([one]) => item.tree.kind === 'scalar' && item.tree.value === one)
    if (found !== undefined) replaceText(work, item.cursor, found[1])
  }
}
