import type {
  ActionDescription,
  ActionUse as DescribedUse,
  JsonSchema,
  MethodAccess,
  TablesSnapshot,
} from '../contract/index.ts'
import { isJsonType } from '../kit/index.ts'
import { findShapeProblem } from './check-description.ts'
import type { ClassConfigs } from './check-class-configs.ts'
import type { ClassCatalog } from './class-catalog.ts'
import { checkTableNames, findTablesInConfig, suggestFrom, type TableInConfig } from './config-annotations.ts'
import { convertDescriptions, type Descriptions } from './convert-descriptions.ts'
import type { ClassUse, Definition, Method, Route } from './definition.ts'
import { omitUndefined, type DefinitionContext } from './definition-context.ts'
import { findNode, quote, textOf, valueOf, type MapNode, type Node } from './node.ts'

/** A method that uses an action class, with a valid config. */
export interface ActionToDescribe {
  readonly class: string
  /** With defaults. Variables are not resolved. */
  readonly config: Readonly<Record<string, unknown>>
  readonly use: DescribedUse
  /** The connections whose tables the config names. */
  readonly tablesOf: readonly string[]
}

/** What `describe` of a class returned, as JSON, or why it failed. */
export type DescribedAction = { readonly description: unknown } | { readonly problem: string }

/** Describes actions by calling their classes. */
export type DescribeActions = (
  actions: readonly ActionToDescribe[],
  definition: Definition,
) => Promise<{
  /** One for each action, in the same order. */
  readonly results: readonly DescribedAction[]
  /** The tables of each connection, if they are up to date. */
  readonly tables?: Readonly<Record<string, TablesSnapshot>>
}>

interface Place {
  readonly route: Route
  readonly method: Method
  readonly action: ClassUse
  readonly node: MapNode
}

/**
 * Completes the methods that use action classes with what the classes describe: parameters, schemas and plan. Responses
 * that a method declares itself are kept; a class combines its parameters and its request with the declared ones. Reports
 * problems at their line of the config.
 */
export async function describeActions(
  context: DefinitionContext,
  definition: Definition,
  {
    configs,
    classes,
    describe,
  }: { readonly configs: ClassConfigs; readonly classes: ClassCatalog; readonly describe: DescribeActions },
): Promise<Definition> {
  const places = findPlaces(context, definition).filter(({ node }) => configs.has(node))
  if (places.length === 0) return definition
  const configOf = ({ node }: Place) => configs.get(node)!
  const nodes = new Set(places.map(({ node }) => node))
  const tablesIn = new Map([...nodes].map((node) => [node, findTablesInConfig(configs.get(node)!.names)]))
  const { schemas, events, connections } = definition
  const shared = {
    schemas,
    events: mapValues(events, ({ schema }) => omitUndefined({ schema })),
    connections: mapValues(connections, (connection) => connection.class),
    databases: omitUndefined(mapValues(connections, (connection) => classes.connections[connection.class]?.migrations)),
  }
  const byClass = groupConfigs(context, places, configs)
  const methods = groupMethods(context, places)
  const actions = places.map((place) => ({
    class: place.action.class,
    config: configOf(place).value,
    use: {
      ...makeUse(context, place),
      ...shared,
      actions: byClass.get(place.action.class)!,
      methods: methods.get(place.action.class)!,
    },
    tablesOf: tablesIn.get(place.node)!.map(({ connection }) => connection),
  }))
  const { results, tables = {} } = await describe(actions, definition)
  const unknownIn = new Map(
    [...tablesIn].map(([node, used]) => [
      node,
      new Set([...configs.get(node)!.unknown, ...checkTables(context, node, { used, tables })]),
    ]),
  )
  const described = new Map<Method, ActionDescription>()
  for (const [index, place] of places.entries()) {
    const unknown = unknownIn.get(place.node)!
    const description = acceptDescription(context, place, { found: results[index]!, unknown })
    if (description !== undefined) described.set(place.method, description)
  }
  const converted = await convertDescriptions(context, definition, described)
  const byPath = new Map(converted.routes.map((route) => [route.path, route]))
  const routes = definition.routes.map((route) => completeRoute(route, byPath.get(route.path), described))
  return { ...definition, routes, schemas: { ...schemas, ...converted.schemas } }
}

function checkTables(
  context: DefinitionContext,
  node: MapNode,
  {
    used,
    tables,
  }: { readonly used: readonly TableInConfig[]; readonly tables: Readonly<Record<string, TablesSnapshot>> },
): readonly string[] {
  const config = valueOf(node, 'config')
  if (config === undefined) return []
  return used.flatMap((table) => checkTableNames(context, table, { config, tables }))
}

function findPlaces({ actionNodes }: DefinitionContext, { routes }: Definition): Place[] {
  return routes.flatMap((route) =>
    route.methods.flatMap((method) => {
      const { action } = method
      const node = 'class' in action ? actionNodes.get(action) : undefined
      return node === undefined ? [] : [{ route, method, action: action as ClassUse, node }]
    }),
  )
}

/** Returns the configs of all actions by class, then by name. Also those of named actions that no method uses. */
function groupConfigs(
  { sections }: DefinitionContext,
  places: readonly Place[],
  configs: ClassConfigs,
): ReadonlyMap<string, DescribedUse['actions']> {
  const named = [...sections.action.entries].map(([name, { value }]) => [name, value] as const)
  const known = new Set<Node>(named.map(([, node]) => node))
  const inline = places.flatMap(({ node, method, route }) =>
    known.has(node) ? [] : [[`${method.method} ${route.path}`, node] as const],
  )
  const all = [...named, ...inline].flatMap(([name, node]) => {
    const config = configs.get(node)
    return config === undefined ? [] : [{ name, value: config.value, class: textOf(valueOf(node, 'class')) ?? '' }]
  })
  const groups = Map.groupBy(all, (one) => one.class)
  return new Map(
    [...groups].map(([name, group]) => [name, Object.fromEntries(group.map((one) => [one.name, one.value]))]),
  )
}

/** Returns who may call the methods that use actions, by class, then by the name of the action. */
function groupMethods(
  { sections }: DefinitionContext,
  places: readonly Place[],
): ReadonlyMap<string, DescribedUse['methods']> {
  const names = new Map<Node, string>([...sections.action.entries].map(([name, { value }]) => [value, name]))
  const nameOf = ({ node, method, route }: Place) => names.get(node) ?? `${method.method} ${route.path}`
  const accessOf = ({ method: { method, public: isPublic, scopes }, route }: Place): MethodAccess => {
    return { method, path: route.path, public: isPublic, scopes }
  }
  const groups = [...Map.groupBy(places, ({ action }) => action.class)]
  const byName = (group: readonly Place[]) =>
    [...Map.groupBy(group, nameOf)].map(([at, same]) => [at, same.map(accessOf)])
  return new Map(groups.map(([name, group]) => [name, Object.fromEntries(byName(group)) as DescribedUse['methods']]))
}

function makeUse(
  { plainPaths }: DefinitionContext,
  { route, method }: Place,
): Omit<DescribedUse, 'schemas' | 'events' | 'connections' | 'databases' | 'actions' | 'methods'> {
  return omitUndefined({
    method: method.method,
    path: route.path,
    public: method.public,
    dispatch: method.dispatch,
    declared: omitUndefined({
      params: plainPaths.has(route.path) ? undefined : method.params,
      parameters: method.query,
      request: method.request,
      responses: method.responses,
    }),
  })
}

function mapValues<Value, Result>(record: Readonly<Record<string, Value>>, map: (value: Value) => Result) {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]))
}

/** Reports the problems of a description. Returns it if it is usable. */
function acceptDescription(
  { loading: { report } }: DefinitionContext,
  { node, action, route, method }: Place,
  { found, unknown }: { readonly found: DescribedAction; readonly unknown: ReadonlySet<string> },
): ActionDescription | undefined {
  const config = valueOf(node, 'config') ?? node
  const code = 'WP_DEFINITION_CLASS_CONFIG'
  const name = quote(textOf(valueOf(node, 'class')) ?? action.class)
  const invalid = 'problem' in found ? found.problem : findShapeProblem(found.description)
  if (invalid !== undefined) {
    const problem = `The class ${name} cannot describe ${method.method} ${route.path}: ${invalid}`
    report.add({ code, at: valueOf(node, 'class') ?? node, parameters: { problem } })
    return undefined
  }
  const description = (found as { readonly description: ActionDescription }).description
  let isUsable = unknown.size === 0
  for (const { at, message: problem, hint, severity = 'error', unknown: one } of description.problems ?? []) {
    if (severity === 'error') isUsable = false
    if (unknown.has(at)) continue // already reported
    const suggestion = one && suggestFrom(report, one.name, one.known)
    report.add({ code, severity, at: findNode(config, at), parameters: { problem }, hint: suggestion ?? hint })
  }
  return isUsable ? description : undefined
}

/** Returns a route with what is described for its methods. All its methods have the same path parameters. */
function completeRoute(route: Route, described: Route | undefined, descriptions: Descriptions): Route {
  if (described === undefined) return route
  const methods = route.methods.map((method): Method => {
    const { query, request, responses } = described.methods.find((one) => one.method === method.method) ?? {}
    const { plan, http, responseTypes } = descriptions.get(method) ?? {}
    return omitUndefined({
      ...method,
      params: described.methods[0]?.params ?? method.params,
      query: query ?? method.query,
      ...completeRequest(method, request),
      ...completeResponses(method, responses, responseTypes),
      http,
      action: plan === undefined ? method.action : { ...(method.action as ClassUse), plan },
    })
  })
  return { ...route, methods }
}

/** A method with `content` has the described schema only in place of its JSON. */
function completeRequest(
  { request, requestTypes }: Method,
  described: JsonSchema | undefined,
): Pick<Partial<Method>, 'request' | 'requestTypes'> {
  const json = Object.keys(requestTypes ?? {}).find(isJsonType)
  if (described === undefined || (requestTypes !== undefined && json === undefined))
    return omitUndefined({ request, requestTypes })
  const types = json === undefined ? undefined : { ...requestTypes, [json]: { schema: described } }
  return omitUndefined({ request: described, requestTypes: types })
}

/** Declared responses are kept, also those without JSON. */
function completeResponses(
  { responses, responseTypes = {} }: Method,
  described: Method['responses'] = {},
  describedTypes: ActionDescription['responseTypes'] = {},
): Pick<Method, 'responses' | 'responseTypes'> {
  const others = Object.entries(described).filter(([status]) => !Object.hasOwn(responseTypes, status))
  const all = { ...Object.fromEntries(others), ...responses } // keys that are numbers are in their order
  const types = Object.entries(describedTypes).flatMap(([status, more]) =>
    Object.hasOwn(responses, status) || Object.hasOwn(responseTypes, status) || all[status] === undefined
      ? []
      : [[status, { 'application/json': { schema: all[status] }, ...more }] as const],
  )
  const merged = { ...responseTypes, ...Object.fromEntries(types) }
  return { responses: all, ...(Object.keys(merged).length > 0 && { responseTypes: merged }) }
}
