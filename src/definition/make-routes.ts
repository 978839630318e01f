import type { JsonSchema } from '../contract/index.ts'
import { listPathParameters, shapeOfPath } from '../kit/index.ts'
import { checkPath } from './check-path.ts'
import type { GroupDefinition, Method, Route } from './definition.ts'
import { includeSiteOf } from './load-context.ts'
import { isPublic, makeMethod, readTimeout } from './make-method.ts'
import { makeParameters } from './make-parameters.ts'
import { makeSteps, type Steps } from './make-steps.ts'
import { omitUndefined, locationOf, recordScopes, type DefinitionContext } from './definition-context.ts'
import { entriesOf, itemsOf, textOf, textsOf, valueOf, type Entry, type Node } from './node.ts'
import { checkName } from './section.ts'

export interface MadeRoutes {
  readonly routes: Route[]
  /** The groups that have a description, by their full path. */
  readonly groups: Record<string, GroupDefinition>
}

/** What the methods of an entry get from it and from the groups around it. */
interface Inherited {
  readonly scopes: readonly string[] | undefined
  readonly rate: string | undefined
  readonly timeoutMs: number | undefined
  readonly deprecated: string | true | undefined
  readonly tags: readonly string[] | undefined
  readonly steps: Steps
  /** The paths of the groups. */
  readonly groups: readonly string[]
  /** The schemas of path parameters. */
  readonly params: readonly JsonSchema[]
  /** Path parameters without a schema. */
  readonly plain: readonly string[]
  /** Whether some key was probably a typo. */
  readonly isUnclear: boolean
}

const nothing: Inherited = {
  scopes: undefined,
  rate: undefined,
  timeoutMs: undefined,
  deprecated: undefined,
  tags: undefined,
  steps: { steps: [], without: [] },
  groups: [],
  params: [],
  plain: [],
  isUnclear: false,
}

interface Making {
  readonly context: DefinitionContext
  readonly made: MadeRoutes
  /** The first entry of each path, without the names of its parameters. */
  readonly shapes: Map<string, { readonly path: string; readonly entry: Entry }>
}

/** Reads the routes in the order of the map `routes`, with those of groups. */
export function makeRoutes(context: DefinitionContext, routes: Node | undefined): MadeRoutes {
  const making: Making = { context, made: { routes: [], groups: {} }, shapes: new Map() }
  for (const entry of entriesOf(routes)) addEntry(making, entry, { prefix: '', outer: nothing })
  return making.made
}

interface Around {
  readonly prefix: string
  readonly outer: Inherited
}

function addEntry(making: Making, entry: Entry, { prefix, outer }: Around): void {
  const { context, made } = making
  const path = prefix + entry.key
  const inside = valueOf(entry.value, 'routes')
  const declared = valueOf(entry.value, 'methods')
  const isGroup = inside !== undefined
  const isValid = checkPath({ path, entry, isGroup, isInGroup: prefix !== '' }, context.loading.report)
  const own = inherit(context, { path, entry, isGroup, isValid }, outer)
  if (!isGroup || declared !== undefined) {
    checkDuplicate(making, path, entry)
    made.routes.push(makeRoute(context, { path, entry }, own))
  }
  checkKeys(context, entry, path)
  const description = textOf(valueOf(entry.value, 'description'))
  if (isGroup && description !== undefined) made.groups[path] = { description }
  for (const one of entriesOf(inside)) addEntry(making, one, { prefix: path, outer: own })
}

/** Reports what is missing or has no effect. */
function checkKeys({ loading: { report } }: DefinitionContext, { keySpan, value }: Entry, path: string): void {
  if (value.kind !== 'map' || value.entries.has('routes')) return
  const description = value.entries.get('description')
  if (description !== undefined) {
    const problem = `"description" describes a group, but ${path} has no "routes"`
    const hint = 'Describe its methods instead'
    report.add({ code: 'WP_DEFINITION_VALUE_INVALID', at: description.keySpan, parameters: { problem }, hint })
  }
  if (value.entries.has('methods') || report.isUnclear(value)) return
  report.add({ code: 'WP_DEFINITION_KEY_MISSING', at: keySpan, parameters: { key: 'methods', owner: 'a route' } })
}

/** Paths that differ only in the names of their parameters match the same requests. */
function checkDuplicate({ context: { loading }, shapes }: Making, path: string, entry: Entry): void {
  const shape = shapeOfPath(path)
  const other = shapes.get(shape)
  if (other === undefined) {
    shapes.set(shape, { path, entry })
    return
  }
  const { file, line } = includeSiteOf(other.entry.keySpan)
  const parameters = { path, other: other.path, first: `${file}:${line}` }
  loading.report.add({ code: 'WP_DEFINITION_ROUTE_DUPLICATE', at: entry.keySpan, parameters })
}

interface PathEntry {
  readonly path: string
  readonly entry: Entry
}

/** Reads the keys of an entry that its methods and the routes below it get. */
function inherit(
  context: DefinitionContext,
  { path, entry, isGroup, isValid }: PathEntry & { readonly isGroup: boolean; readonly isValid: boolean },
  outer: Inherited,
): Inherited {
  const { report } = context.loading
  const { value: node } = entry
  const scopes = valueOf(node, 'scopes')
  const rate = valueOf(node, 'rate')
  const rateName = textOf(rate)
  const tags = valueOf(node, 'tags')
  recordScopes(context, itemsOf(scopes))
  if (rate !== undefined && rateName !== undefined) checkName(context.sections.rate, rateName, { at: rate, report })
  return {
    scopes: scopes === undefined ? outer.scopes : textsOf(scopes),
    rate: rateName ?? outer.rate,
    timeoutMs: readTimeout(context, node) ?? outer.timeoutMs,
    deprecated: readDate(context, path, node) ?? outer.deprecated,
    tags: tags === undefined ? outer.tags : textsOf(tags),
    steps: makeSteps(context, node, outer.steps),
    groups: isGroup ? [...outer.groups, path] : outer.groups,
    ...makePathSchemas(context, { path, entry, isValid }, outer),
    isUnclear: outer.isUnclear || report.isUnclear(node),
  }
}

/** The parameters since the last `path` of a group belong to the next one, which may restrict the others further. */
function makePathSchemas(
  context: DefinitionContext,
  { path, entry, isValid }: PathEntry & { readonly isValid: boolean },
  outer: Inherited,
): Pick<Inherited, 'params' | 'plain'> {
  const names = [...outer.plain, ...listPathParameters(entry.key)]
  const place = entry.value.kind === 'map' ? entry.value.entries.get('path') : undefined
  if (place === undefined) return { params: outer.params, plain: names }
  const others = listPathParameters(path).filter((name) => !names.includes(name))
  const schema = makeParameters(context, { entry: place, ...(isValid && { path: { text: path, names, others } }) })
  return { params: schema === undefined ? outer.params : [...outer.params, schema], plain: isValid ? [] : names }
}

function makeRoute(context: DefinitionContext, { path, entry }: PathEntry, own: Inherited): Route {
  const declared = entriesOf(valueOf(entry.value, 'methods'))
  if (own.params.length === 0) context.plainPaths.add(path)
  // Those of a group, or of some methods, are for others.
  const isShared = valueOf(entry.value, 'routes') !== undefined || !declared.every(({ value }) => isPublic(value))
  const shared = {
    ...own,
    path,
    params: joinParams(own),
    tags: own.tags ?? (own.groups.length === 0 ? undefined : own.groups.toReversed()),
    unusedScopes: isShared ? [] : textsOf(valueOf(entry.value, 'scopes')),
  }
  const methods = declared.flatMap((method): Method | Method[] => makeMethod(context, method, shared) ?? [])
  return omitUndefined({ path, methods, deprecated: own.deprecated, at: locationOf(entry.keySpan) })
}

/** Path parameters without a schema are strings. */
function joinParams({ params, plain }: Inherited): JsonSchema | undefined {
  const properties = Object.fromEntries(plain.map((name) => [name, { type: 'string' }]))
  const texts = plain.length === 0 ? [] : [{ type: 'object', properties, required: [...plain] }]
  const [first, ...others] = [...params, ...texts]
  if (first === undefined || others.length === 0) return first
  return { type: 'object', allOf: [first, ...others] }
}

function readDate({ loading }: DefinitionContext, path: string, node: Node): string | true | undefined {
  const at = valueOf(node, 'deprecated')
  if (at?.kind === 'scalar' && at.value === true) {
    loading.report.add({ code: 'WP_DEFINITION_DEPRECATED_DATE', severity: 'warning', at, parameters: { path } })
    return true
  }
  const text = textOf(at)
  if (at === undefined || text === undefined) return undefined
  const isDate = /^\d{4}-\d{2}-\d{2}$/.test(text) && new Date(`${text}T00:00:00Z`).toJSON()?.startsWith(text)
  if (isDate) return text
  const problem = `"deprecated" must be a date such as 2027-01-31, not "${text}"`
  loading.report.add({ code: 'WP_DEFINITION_VALUE_INVALID', at, parameters: { problem } })
  return undefined
}
