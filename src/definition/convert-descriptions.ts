import { isDeepStrictEqual } from 'node:util'
import type { ActionDescription, JsonSchema } from '../contract/index.ts'
import { bodylessStatuses } from '../kit/index.ts'
import { parsePointer } from '../schema/index.ts'
import { checkDefinitionValue } from './check-value.ts'
import type { ClassUse, Definition, Method, Route } from './definition.ts'
import { omitUndefined, type DefinitionContext } from './definition-context.ts'
import type { DescribedRoute } from './load-context.ts'
import { quote, textOf, valueOf } from './node.ts'

export type Descriptions = ReadonlyMap<Method, ActionDescription>

/** What classes describe, in the form of a definition. */
export interface ConvertedDescriptions {
  readonly routes: readonly Route[]
  /** The named schemas that the descriptions add. */
  readonly schemas: Definition['schemas']
}

/** Any file name: the descriptions are checked without actions. */
const file = 'described.ts'

/** Checks the described schemas like those in `waypost.yml`, and converts them to the form of a definition. */
export async function convertDescriptions(
  context: DefinitionContext,
  { routes, schemas: own }: Definition,
  descriptions: Descriptions,
): Promise<ConvertedDescriptions> {
  const { described } = context.loading.cache
  const added = collectSchemas(context, own, descriptions)
  const schemas = { ...own, ...mapValues(added, ({ schema }) => schema) }
  const schemaText = JSON.stringify(schemas)
  const known = described.schemas === schemaText ? described.routes : new Map<string, DescribedRoute>()
  const parts = new Map<string, DescribedRoute['parts']>()
  const written: Record<string, object> = {}
  for (const route of routes) {
    const methods = route.methods.filter((method) => descriptions.has(method))
    if (methods.length === 0) continue
    const path = mergeParams(context, route, findParams(context, route, descriptions))
    const own = [JSON.stringify(path), ...methods.flatMap((method) => [method.method, descriptions.get(method)])]
    parts.set(route.path, own)
    const before = known.get(route.path)?.parts
    if (before?.length === own.length && before.every((part, index) => part === own[index])) continue
    const entries = methods.map((method) => {
      const { parameters, request, responses = {} } = descriptions.get(method)!
      return [
        method.method,
        omitUndefined({ public: true, parameters, request, responses: writeResponses(responses), action: file }),
      ]
    })
    written[route.path] = omitUndefined({ path, methods: Object.fromEntries(entries) as object })
  }
  const value = { routes: written, schema: schemas }
  const isComplete = Object.keys(written).length === 0
  const { definition, problems } = isComplete
    ? { definition: { routes: [], schemas: described.named }, problems: [] }
    : await checkDefinitionValue(value, { files: [file], classes: noClasses })
  const broken = reportProblems(context, problems, { routes, descriptions, added })
  const found = new Map(definition.routes.map((route) => [route.path, route]))
  const all = [...parts].flatMap(([path, own]): readonly (readonly [string, DescribedRoute])[] => {
    const route = Object.hasOwn(written, path) ? found.get(path) : known.get(path)?.route
    return route === undefined ? [] : [[path, { parts: own, route }]]
  })
  context.loading.cache.described = {
    schemas: schemaText,
    named: definition.schemas,
    routes: new Map(all.filter(([path]) => !broken.has(path))),
  }
  const names = Object.keys(added).filter((name) => Object.hasOwn(definition.schemas, name))
  return {
    routes: all.map(([, { route }]) => route),
    schemas: Object.fromEntries(names.map((name) => [name, definition.schemas[name]!])),
  }
}

interface Described {
  readonly routes: readonly Route[]
  readonly descriptions: Descriptions
  readonly added: Readonly<Record<string, AddedSchema>>
}

/** Reports problems at the classes that describe what is wrong. @returns the routes with problems */
function reportProblems(
  context: DefinitionContext,
  problems: readonly { readonly pointer: string; readonly message: string }[],
  { routes, descriptions, added }: Described,
): ReadonlySet<string> {
  const broken = new Set<string>()
  for (const { pointer, message } of problems) {
    const [top, path, section, name] = parsePointer(pointer) ?? []
    const of = top === 'schema' && path !== undefined && Object.hasOwn(added, path) ? added[path]!.method : undefined
    if (of !== undefined) reportSchema(context, of, `describes an invalid schema ${quote(path!)}: ${message}`)
    if (path !== undefined) broken.add(path)
    if (section === undefined) continue // a problem of the path, which is reported at its own place
    const route = routes.find((one) => one.path === path)
    const method =
      route?.methods.find((one) => one.method === name) ?? route?.methods.find((one) => descriptions.has(one))
    const node = method === undefined ? undefined : context.actionNodes.get(method.action as ClassUse)
    if (node === undefined) continue // a problem of a named schema, which is reported at its own place
    const problem = `The class ${quote(textOf(valueOf(node, 'class')) ?? '')} describes an invalid schema of ${method!.method} ${path}: ${message}`
    context.loading.report.add({
      code: 'WP_DEFINITION_CLASS_CONFIG',
      at: valueOf(node, 'class')!,
      parameters: { problem },
    })
  }
  return broken
}

interface AddedSchema {
  readonly schema: JsonSchema
  readonly method: Method
}

/** Collects the named schemas of descriptions. The same name must mean the same everywhere. */
function collectSchemas(
  context: DefinitionContext,
  own: Definition['schemas'],
  descriptions: Descriptions,
): Readonly<Record<string, AddedSchema>> {
  const found: Record<string, AddedSchema> = {}
  for (const [method, { schemas = {} }] of descriptions) {
    for (const [name, schema] of Object.entries(schemas)) {
      const known = Object.hasOwn(found, name) ? found[name] : undefined
      const isOther = known !== undefined && !isDeepStrictEqual(known.schema, schema)
      if (Object.hasOwn(own, name))
        reportSchema(context, method, `describes the schema ${quote(name)}, which exists already`)
      else if (isOther)
        reportSchema(context, method, `describes the schema ${quote(name)} differently from an earlier method`)
      else found[name] ??= { schema, method }
    }
  }
  return found
}

function reportSchema({ actionNodes, loading }: DefinitionContext, { action }: Method, what: string): void {
  const node = actionNodes.get(action as ClassUse)!
  const problem = `The class ${quote(textOf(valueOf(node, 'class')) ?? '')} ${what}`
  loading.report.add({ code: 'WP_DEFINITION_CLASS_CONFIG', at: node, parameters: { problem } })
}

function mapValues<Value, Result>(record: Readonly<Record<string, Value>>, map: (value: Value) => Result) {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]))
}

const noClasses = { connections: {}, actions: {} }

function writeResponses(responses: Readonly<Record<string, JsonSchema>>): Record<string, JsonSchema | null> {
  const entries = Object.entries(responses)
  return Object.fromEntries(entries.map(([status, schema]) => [status, bodylessStatuses.has(status) ? null : schema]))
}

/** Path parameters match the schema that the route declares and the described one. */
function mergeParams(
  { plainPaths }: DefinitionContext,
  { path, methods }: Route,
  described: JsonSchema | undefined,
): JsonSchema | undefined {
  const declared = plainPaths.has(path) ? undefined : methods[0]?.params
  if (declared === undefined || described === undefined) return described ?? declared
  return { type: 'object', allOf: [declared, described] }
}

function findParams(
  { actionNodes, loading: { report } }: DefinitionContext,
  route: Route,
  descriptions: Descriptions,
): JsonSchema | undefined {
  let first: { readonly method: Method; readonly params: JsonSchema } | undefined
  for (const method of route.methods) {
    const params = descriptions.get(method)?.params
    if (params === undefined) continue
    first ??= { method, params }
    if (isDeepStrictEqual(first.params, params)) continue
    const problem = `The path parameters of ${route.path} are described differently for ${first.method.method} and ${method.method}`
    const hint = 'Use the same table and key for both, or declare the parameters under "path"'
    const at = actionNodes.get(method.action as ClassUse)!
    report.add({ code: 'WP_DEFINITION_CLASS_CONFIG', at, parameters: { problem }, hint })
  }
  return first?.params
}
