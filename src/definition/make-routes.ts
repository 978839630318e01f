import { checkPath } from './check-path.ts'
import type { Method, Route } from './definition.ts'
import { includeSiteOf } from './load-context.ts'
import { isPublic, makeMethod } from './make-method.ts'
import { makeParameters } from './make-parameters.ts'
import { omitUndefined, locationOf, recordScopes, type DefinitionContext } from './definition-context.ts'
import { entriesOf, itemsOf, textOf, textsOf, valueOf, type Entry, type Node } from './node.ts'
import { checkName } from './section.ts'

/** Reads the routes in the order of the map `routes`. */
export function makeRoutes(context: DefinitionContext, routes: Node | undefined): Route[] {
  const shapes = new Map<string, Entry>()
  return entriesOf(routes).map((entry) => {
    checkDuplicate(context, entry, shapes)
    return makeRoute(context, entry)
  })
}

/** Paths that differ only in the names of their parameters match the same requests. */
function checkDuplicate({ loading }: DefinitionContext, entry: Entry, shapes: Map<string, Entry>): void {
  const shape = entry.key.replace(/:[^/]*/g, ':')
  const other = shapes.get(shape)
  if (other === undefined) {
    shapes.set(shape, entry)
    return
  }
  const { file, line } = includeSiteOf(other.keySpan)
  const parameters = { path: entry.key, other: other.key, first: `${file}:${line}` }
  loading.report.add({ code: 'WP_DEFINITION_ROUTE_DUPLICATE', at: entry.keySpan, parameters })
}

function makeRoute(context: DefinitionContext, entry: Entry): Route {
  const { report } = context.loading
  const node = entry.value
  const names = checkPath(entry, report)
  const scopes = valueOf(node, 'scopes')
  const rate = valueOf(node, 'rate')
  const rateName = textOf(rate)
  recordScopes(context, itemsOf(scopes))
  const declared = entriesOf(valueOf(node, 'methods'))
  if (rate !== undefined && rateName !== undefined) checkName(context.sections.rate, rateName, { at: rate, report })
  const shared = {
    path: entry.key,
    params: makePathSchema(context, entry, names),
    scopes: scopes === undefined ? undefined : textsOf(scopes),
    rate: rateName,
    isPublic: declared.every(({ value }) => isPublic(value)),
    isUnclear: report.isUnclear(node),
  }
  const methods: Method[] = []
  for (const method of declared) {
    const made = makeMethod(context, method, shared)
    if (made !== undefined) methods.push(made)
  }
  return omitUndefined({
    path: entry.key,
    methods,
    deprecated: readDate(context, entry),
    at: locationOf(entry.keySpan),
  })
}

/** Path parameters without a schema are strings. */
function makePathSchema(context: DefinitionContext, { key: text, value }: Entry, names: readonly string[] | undefined) {
  const place = value.kind === 'map' ? value.entries.get('path') : undefined
  if (place !== undefined) {
    return makeParameters(context, { entry: place, ...(names === undefined ? {} : { path: { text, names } }) })
  }
  context.plainPaths.add(text)
  if (names === undefined || names.length === 0) return undefined
  const properties = Object.fromEntries(names.map((name) => [name, { type: 'string' }]))
  return { type: 'object', properties, required: [...names] }
}

function readDate({ loading }: DefinitionContext, { key: path, value }: Entry): string | true | undefined {
  const at = valueOf(value, 'deprecated')
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
