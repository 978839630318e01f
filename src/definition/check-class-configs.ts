import type { ErrorObject, ValidateFunction } from 'ajv'
import type { Ajv2020 } from 'ajv/dist/2020.js'
import type { JsonSchema } from '../contract/index.ts'
import { hasReferences, messageOf, useExactFormats, useExactKeywords } from '../kit/index.ts'
import type { ClassCatalog, ClassDescription } from './class-catalog.ts'
import {
  addAnnotations,
  checkAnnotations,
  suggestFrom,
  type Annotation,
  type ConfigName,
} from './config-annotations.ts'
import type { ClassUseNode, DefinitionContext } from './definition-context.ts'
import {
  describeNode,
  entriesOf,
  findNode,
  hintForCut,
  inexactHint,
  inexactIntegers,
  itemsOf,
  quote,
  sourceOf,
  textOf,
  toValue,
  valueOf,
  type Node,
} from './node.ts'
import type { Report } from './report.ts'
import type { Span } from './source.ts'

/** A valid config. */
export interface ClassConfig {
  /** With defaults. */
  readonly value: Readonly<Record<string, unknown>>
  readonly names: readonly ConfigName[]
  /** Where unknown names were reported, as JSON pointers. */
  readonly unknown: ReadonlySet<string>
}

/** By the node of the class, connection or plugin. */
export type ClassConfigs = ReadonlyMap<Node, ClassConfig>

/** Checks that each class exists and that its config matches the schema of the class. */
export async function checkClassConfigs(context: DefinitionContext, catalog: ClassCatalog): Promise<ClassConfigs> {
  checkRateConnections(context, catalog)
  checkCodeClasses(context, catalog)
  const known = context.classUses.filter((use) => checkClass(context, use, catalog))
  const configs = new Map<Node, ClassConfig>()
  if (known.length === 0) return configs
  const { compile, annotations } = await openCompiler()
  for (const use of known) {
    const validate = compile(findDescription(use, catalog)!.config)
    annotations.length = 0
    const value = checkConfig(context, use, validate)
    const checked = checkAnnotations(context, use, annotations)
    if (value !== undefined) configs.set(use.node, { value, ...checked })
  }
  return configs
}

/** The node with the name of the class or plugin. */
function nameNodeOf({ kind, node }: ClassUseNode): Node | undefined {
  return kind === 'plugin' && node.kind === 'scalar' ? node : valueOf(node, kind === 'plugin' ? 'name' : 'class')
}

/** Returns the class or plugin that a config is for, if it is known. */
export function findDescription(use: ClassUseNode, catalog: ClassCatalog | undefined): ClassDescription | undefined {
  const kinds = {
    connection: catalog?.connections,
    action: catalog?.actions,
    step: catalog?.steps,
    plugin: catalog?.plugins,
  }
  const known = kinds[use.kind] ?? {}
  const name = textOf(nameNodeOf(use)) ?? ''
  return Object.hasOwn(known, name) ? known[name] : undefined
}

function checkClass({ loading }: DefinitionContext, use: ClassUseNode, catalog: ClassCatalog): boolean {
  const at = nameNodeOf(use)
  const name = textOf(at)
  if (at === undefined || name === undefined || name === '') return false
  if (findDescription(use, catalog) !== undefined) return true
  if (use.kind === 'plugin') return false // it was not built, which is reported
  const names = Object.keys(
    { connection: catalog.connections, action: catalog.actions, step: catalog.steps ?? {} }[use.kind],
  )
  const hint = suggestFrom(loading.report, name, names) ?? 'Add the plugin that provides it under "plugins"'
  loading.report.add({ code: 'WP_DEFINITION_CLASS_UNKNOWN', at, parameters: { kind: use.kind, name }, hint })
  return false
}

/** Some classes need the method of a route. */
function checkCodeClasses({ loading: { report }, codeClasses }: DefinitionContext, { actions }: ClassCatalog): void {
  for (const { name, at, user } of codeClasses) {
    if (!Object.hasOwn(actions, name) || !actions[name]!.routesOnly) continue
    const problem = `${user} cannot use the class "${name}", which needs the method of a route`
    const hint = 'Use an action with code: action: src/FILE.ts'
    const code = user === 'A cronjob' ? 'WP_DEFINITION_CRON_INVALID' : 'WP_DEFINITION_VALUE_INVALID'
    report.add({ code, at: valueOf(at, 'class') ?? at, parameters: { problem }, hint })
  }
}

/** A rate can only name a connection whose class can count. */
function checkRateConnections(
  { loading: { report }, sections }: DefinitionContext,
  { connections }: ClassCatalog,
): void {
  for (const { value } of sections.rate.entries.values()) {
    const at = valueOf(value, 'connection')
    const name = textOf(at)
    if (at === undefined || name === undefined) continue
    const className = textOf(valueOf(sections.connection.entries.get(name)?.value, 'class')) ?? ''
    const known = Object.hasOwn(connections, className) ? connections[className] : undefined
    if (name !== 'System' && (known === undefined || known.capabilities?.includes('count') === true)) continue
    const able = Object.keys(connections).filter((one) => connections[one]!.capabilities?.includes('count'))
    const hint =
      able.length === 0
        ? 'Add a plugin that provides such a class, for example @waypost/plugin-redis'
        : `Use a connection of the class ${able.join(' or ')}`
    report.add({ code: 'WP_DEFINITION_RATE_CONNECTION', at, parameters: { name }, hint })
  }
}

interface Compiler {
  /** Returns why a schema is invalid as a text. Compiles each schema once. */
  compile(schema: JsonSchema): ValidateFunction | string
  /** Those of the last validated config. */
  readonly annotations: Annotation[]
}

let opened: Promise<Compiler & { readonly compiled: ReadonlyMap<JsonSchema, unknown> }> | undefined

/** Rebuilt plugins have new schemas, and a compiler keeps every schema that it has compiled. */
const maxCompiled = 500

/** Opened only if a class is used, because opening it takes most of the time for a small project. Kept for the next load. */
async function openCompiler(): Promise<Compiler> {
  if (opened !== undefined && (await opened).compiled.size > maxCompiled) opened = undefined
  return (opened ??= loadCompiler())
}

async function loadCompiler(): Promise<Compiler & { readonly compiled: ReadonlyMap<JsonSchema, unknown> }> {
  // Bundled CommonJS that is loaded later has only a default export.
  const [{ default: ajvModule }, { default: addFormats }] = await Promise.all([
    import('ajv/dist/2020.js'),
    import('ajv-formats'),
  ])
  const ajv = new ajvModule.Ajv2020({ strict: false, allErrors: true, verbose: true, useDefaults: true })
  addFormats.default(ajv)
  useExactFormats(ajv)
  useExactKeywords(ajv, ajvModule)
  const annotations: Annotation[] = []
  addAnnotations(ajv, annotations)
  const compiled = new Map<JsonSchema, ValidateFunction | string>()
  const compile = (schema: JsonSchema) => {
    const known = compiled.get(schema) ?? tryCompile(ajv, schema)
    compiled.set(schema, known)
    return known
  }
  return { compile, annotations, compiled }
}

function tryCompile(ajv: Ajv2020, schema: JsonSchema): ValidateFunction | string {
  try {
    return ajv.compile(schema)
  } catch (error) {
    return messageOf(error)
  }
}

/** @returns the error of a schema that refers to itself for the same value */
function tryValidate(validate: ValidateFunction, value: unknown): string | undefined {
  try {
    validate(value)
    return undefined
  } catch (error) {
    if (error instanceof RangeError) return messageOf(error)
    throw error
  }
}

/** @returns the config with defaults, if it is valid */
function checkConfig(
  { loading }: DefinitionContext,
  use: ClassUseNode,
  validate: ValidateFunction | string,
): Readonly<Record<string, unknown>> | undefined {
  const { kind, node } = use
  const config = node.kind === 'map' ? node.entries.get('config') : undefined
  const name = nameNodeOf(use) ?? node
  const reportProblem = (at: Span, problem: string, hint?: string): void =>
    loading.report.add({ code: 'WP_DEFINITION_CLASS_CONFIG', at, parameters: { problem }, hint })
  const label = quote(textOf(name) ?? '')
  if (typeof validate === 'string') {
    const what = kind === 'plugin' ? kind : 'class'
    reportProblem(name, `The ${what} ${label} has a config schema that is not valid: ${validate}`)
    return undefined
  }
  const value = config?.value
  if (value !== undefined && value.kind !== 'map') return undefined
  for (const one of value === undefined ? [] : inexactIntegers(value))
    reportProblem(one, `${sourceOf(one)} is beyond 2^53, where integers are rounded`, inexactHint)
  const filled = value === undefined ? {} : (toValue(value) as Record<string, unknown>)
  const endless = tryValidate(validate, filled)
  if (endless !== undefined) {
    reportProblem(name, `The config schema of the class ${label} never ends: ${endless}`)
    return undefined
  }
  if (!validate.errors) return filled
  let isValid = true
  for (const error of dropTypos(validate.errors, loading.report)) {
    const at = value === undefined ? name : findNode(value, error.instancePath)
    if (dependsOnVariable(at, error)) continue
    isValid = false
    reportError(error, { at, owner: config?.keySpan ?? name, reportProblem, report: loading.report })
  }
  return isValid ? filled : undefined
}

/** Omits missing keys that are similar to an unknown key: both are the same typo. */
function dropTypos(errors: readonly ErrorObject[], report: Report): ErrorObject[] {
  const missing = errors.filter(({ keyword }) => keyword === 'required')
  const typos = new Set<ErrorObject>()
  for (const { keyword, instancePath, params } of errors) {
    if (keyword !== 'additionalProperties') continue
    const siblings = missing.filter((error) => error.instancePath === instancePath)
    const names = siblings.map((error) => String(error.params['missingProperty']))
    const suggestion = report.findNearest(String(params['additionalProperty']), names)
    for (const error of siblings) if (error.params['missingProperty'] === suggestion) typos.add(error)
  }
  return errors.filter((error) => !typos.has(error))
}

/** Whether an error may depend on a variable. Such values are checked by the server that activates the release. */
function dependsOnVariable(at: Node, { keyword }: ErrorObject): boolean {
  if (at.kind === 'broken') return true
  if (at.kind === 'scalar') return hasReferences(String(at.value))
  if (!['anyOf', 'oneOf', 'allOf', 'not', 'if', 'const', 'enum', 'uniqueItems', 'contains'].includes(keyword))
    return false
  const children = at.kind === 'map' ? entriesOf(at).map(({ value }) => value) : itemsOf(at)
  return children.some((child) => dependsOnVariable(child, { keyword } as ErrorObject))
}

interface ErrorLocation {
  readonly at: Node
  /** The location of the problem if something is missing. */
  readonly owner: Span
  readonly reportProblem: (at: Span, problem: string, hint?: string) => void
  readonly report: Report
}

function reportError(error: ErrorObject, { at, owner, reportProblem, report }: ErrorLocation): void {
  const label = `"${['config', ...error.instancePath.split('/').slice(1)].join('/')}"`
  const parameters = error.params as Readonly<Record<string, unknown>>
  if (error.keyword === 'required') {
    reportProblem(owner, `${quote(String(parameters['missingProperty']))} is missing, but required in ${label}`)
  } else if (error.keyword === 'additionalProperties' || error.keyword === 'unevaluatedProperties') {
    const key = String(parameters['additionalProperty'] ?? parameters['unevaluatedProperty'])
    const schema = error.parentSchema as { readonly properties?: object } | undefined
    const suggestion = report.findNearest(key, Object.keys(schema?.properties ?? {}))
    const entry = at.kind === 'map' ? at.entries.get(key) : undefined
    if (entry?.cut?.isFirst === false) return
    const hint = hintForCut(entry?.cut) ?? (suggestion === undefined ? undefined : `Did you mean "${suggestion}"?`)
    reportProblem(entry?.keySpan ?? at, `"${key}" is not a valid key of ${label}`, hint)
  } else if (error.keyword === 'enum') {
    reportProblem(
      at,
      `${label} must be one of ${(parameters['allowedValues'] as unknown[]).map((value) => JSON.stringify(value)).join(', ')}`,
    )
  } else {
    const found = error.keyword === 'type' ? `, not ${describeNode(at)}` : ''
    const { description } = error.parentSchema as { readonly description?: string }
    // A pattern is hard to read; the description says what the value is.
    const hint = error.keyword === 'pattern' ? description : undefined
    reportProblem(at, `${label} ${error.message ?? 'does not match the schema of the class'}${found}`, hint)
  }
}
