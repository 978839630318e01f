import type { JsonSchema } from '../contract/index.ts'
import { formType, multipartType } from '../kit/index.ts'
import { makePointer } from '../schema/index.ts'
import type { DefinitionContext } from './definition-context.ts'
import { describeNode, entriesOf, textOf, valueOf, type Entry, type MapNode, type Node } from './node.ts'
import type { Report } from './report.ts'
import type { ResolvedSchemas } from './resolve-references.ts'
import { typeNames } from './schema-language.ts'
import { makeSchema } from './schemas.ts'
import { typesOfSchema, type Level } from './walk-schema.ts'

export interface ParametersPlace {
  /** The entry of `path` or `parameters`. */
  readonly entry: Entry
  /** All path parameters are required. */
  readonly path?: {
    readonly text: string
    readonly names: readonly string[]
    /** Parameters that have a schema in a group, and may have another one. */
    readonly others?: readonly string[]
  }
}

/** Returns the object schema of `path` or `parameters`: a schema name, an inline schema, or a map of name to schema. */
export function makeParameters(context: DefinitionContext, place: ParametersPlace): JsonSchema | undefined {
  const { entry, path } = place
  const { value } = entry
  if (value.kind === 'broken') return undefined
  if (value.kind === 'list' || (value.kind === 'scalar' && textOf(value) === undefined)) {
    const problem = `"${entry.key}" must be a map of name to schema, or a schema of type object, not ${describeNode(value)}`
    context.loading.report.add({ code: 'WP_DEFINITION_VALUE_INVALID', at: value, parameters: { problem } })
    return undefined
  }
  context.afterSchemas.push((resolved) => checkParameters(context, place, resolved))
  if (value.kind === 'map' && !isSchema(context, value)) return makeObject(context, value, path?.names)
  const schema = makeSchema(context.schemas, value)
  context.schemas.ofText.add(value)
  if (path === undefined || value.kind !== 'map' || typeof schema !== 'object' || '$ref' in schema) return schema
  const required = Array.isArray(schema['required']) ? (schema['required'] as unknown[]) : []
  return { ...schema, required: [...new Set([...required, ...path.names])] }
}

/** A schema has a type, a reference or combined schemas; a parameter may have any of these names. */
function isSchema({ schemas }: DefinitionContext, node: MapNode): boolean {
  const type = textOf(valueOf(node, 'type'))
  const isName = type !== undefined && !typeNames.some((name) => name === type) && schemas.section.entries.has(type)
  if (isName) return false
  const kindOf = (key: string): string | undefined => valueOf(node, key)?.kind
  if (kindOf('type') === 'scalar' || kindOf('type') === 'list' || kindOf('$ref') === 'scalar') return true
  if (['allOf', 'anyOf', 'oneOf', 'required'].some((key) => kindOf(key) === 'list')) return true
  return kindOf('properties') === 'map' && textOf(valueOf(valueOf(node, 'properties'), 'type')) === undefined
}

function makeObject(context: DefinitionContext, node: MapNode, required: readonly string[] = []): JsonSchema {
  const properties: [string, JsonSchema][] = []
  for (const { key, value } of node.entries.values()) {
    context.schemas.ofText.add(value)
    properties.push([key, makeSchema(context.schemas, value, makePointer(['properties', key]))])
  }
  const schema = { type: 'object', properties: Object.fromEntries(properties) }
  return required.length === 0 ? schema : { ...schema, required }
}

/** The maximum number of extra properties reported for a route. */
const maxListed = 20

function checkParameters(
  context: DefinitionContext,
  { entry, path }: ParametersPlace,
  resolved: ResolvedSchemas,
): void {
  const { report } = context.loading
  const { key, value } = entry
  const isMap = value.kind === 'map' && !isSchema(context, value)
  const type = isMap ? 'object' : typeOf(context, value, resolved)
  if (type !== undefined && type !== 'object') {
    const problem = `"${key}" must be a schema of type object, not of type "${type}"`
    report.add({ code: 'WP_DEFINITION_PARAMETERS_INVALID', at: value, parameters: { problem } })
    return
  }
  if (isMap) for (const item of value.entries.values()) checkParameter(context, item, { key, resolved })
  if (path === undefined) return
  const found = isMap ? { names: [...value.entries.keys()], open: false } : namesIn(context, value, resolved)
  const { others = [] } = path
  const extra = found.names.filter((name) => !path.names.includes(name) && !others.includes(name))
  const missing = found.open ? [] : path.names.filter((name) => !found.names.includes(name))
  for (const name of extra.slice(0, maxListed)) {
    const suggestion = findTypo(name, missing, { extra, report })
    const problem = `"${name}" is not a parameter of ${path.text}`
    const hint = suggestion === undefined ? undefined : `Did you mean "${suggestion}"?`
    const at = isMap ? value.entries.get(name)!.keySpan : value
    report.add({ code: 'WP_DEFINITION_PATH_PARAMETER', at, parameters: { problem }, hint })
  }
  for (const name of missing.filter((name) => findTypo(name, extra, { extra: missing, report }) === undefined)) {
    const problem = `":${name}" of ${path.text} has no schema`
    const hint = `Add ${name}: { type: string } to "path"`
    report.add({ code: 'WP_DEFINITION_PATH_PARAMETER', at: entry.keySpan, parameters: { problem }, hint })
  }
}

/** If one name is missing and one is unknown, they are the same typo, however different they are. */
function findTypo(
  name: string,
  others: readonly string[],
  { extra, report }: { extra: readonly string[]; report: Report },
): string | undefined {
  return others.length === 1 && extra.length === 1 ? others[0] : report.findNearest(name, others)
}

interface ParameterContext {
  readonly key: string
  readonly resolved: ResolvedSchemas
}

function checkParameter(
  context: DefinitionContext,
  { key: name, value }: Entry,
  { key, resolved }: ParameterContext,
): void {
  const type = typeOf(context, value, resolved)
  const { report } = context.loading
  if (report.isUnclear(value)) return
  const isValue = type !== 'object' && (type !== 'array' || key === 'parameters')
  if (isValue) return
  const problem = `"${name}" cannot be of type "${type}": the ${key === 'path' ? 'path' : 'query'} contains text`
  report.add({ code: 'WP_DEFINITION_PARAMETERS_INVALID', at: value, parameters: { problem } })
}

const maxHops = 50

/** Checks the schema of a body that consists of named parts. */
export function checkParts(
  context: DefinitionContext,
  { node, part, resolved }: { readonly node: Node; readonly part: string; readonly resolved: ResolvedSchemas },
): void {
  const { report } = context.loading
  if (report.isUnclear(node)) return
  const type = typeOf(context, node, resolved)
  if (type !== 'object') {
    const problem = `The schema of ${part} must be of type object${type === undefined ? '' : `, not "${type}"`}`
    report.add({ code: 'WP_DEFINITION_SCHEMA_INVALID', at: node, parameters: { problem } })
    return
  }
  if (part !== formType) return
  for (const { key: name, value } of entriesOf(valueOf(node, 'properties'))) {
    if (typeOf(context, value, resolved) !== 'object' || report.isUnclear(value)) continue
    const problem = `"${name}" cannot be of type "object": a form contains text`
    const hint = `Use ${multipartType}, whose parts may be JSON`
    report.add({ code: 'WP_DEFINITION_SCHEMA_INVALID', at: value, parameters: { problem }, hint })
  }
}

/** Returns the type of a schema, following references. */
export function typeOf({ schemas }: DefinitionContext, start: Node, { targets }: ResolvedSchemas): string | undefined {
  let node: Node | undefined = start
  for (let hops = 0; hops < maxHops && node !== undefined; hops += 1) {
    const [type, other] = valueOf(node, 'type')?.kind === 'list' ? [] : typesOfSchema(schemas.walking, node)
    if (type !== undefined && other === undefined) return typeNames.some((name) => name === type) ? type : undefined
    const reference: Node | undefined = node.kind === 'scalar' ? node : valueOf(node, '$ref')
    node = reference === undefined ? undefined : targets.get(reference)?.node
  }
  return undefined
}

/** Returns the properties of a schema, following references; `open` if there may be more. */
function namesIn(
  { schemas }: DefinitionContext,
  node: Node,
  { targets }: ResolvedSchemas,
): { names: string[]; open: boolean } {
  const start = schemas.walking.levels.get(node)
  const reached = new Set<Level>(start === undefined ? [] : [start])
  for (const level of reached) {
    for (const { at } of level.references) {
      const next = schemas.walking.levels.get(targets.get(at)?.node as Node)
      if (next !== undefined) reached.add(next)
    }
  }
  const levels = [...reached]
  return {
    names: levels.flatMap(({ properties }) => [...properties]),
    open: start === undefined || levels.some(({ open }) => open),
  }
}
