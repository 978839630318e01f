import {
  describeType,
  hasReferences,
  isOfType,
  parseDuration,
  resolveReferences,
  variableTypes,
  type DeclaredVariable,
  type Variables,
  type VariableValue,
} from '../kit/index.ts'
import { checkCronjobTimeout, checkSchedule, checkTimezone } from './check-cron.ts'
import type { ClassUse, Cronjob, EventDefinition, PluginUse, Rate } from './definition.ts'
import { makeAction, makeClassUse } from './make-action.ts'
import { configOf, locationOf, omitUndefined, recordScopes, type DefinitionContext } from './definition-context.ts'
import { describeNode, entriesOf, itemsOf, textOf, textsOf, toValue, valueOf, type Entry, type Node } from './node.ts'
import type { Report } from './report.ts'
import { makeSchema } from './schemas.ts'
import { checkName } from './section.ts'

/** Converts the entries of a map. Entries with reported errors are omitted. */
function mapEntries<Value>(node: Node | undefined, make: (entry: Entry) => Value | undefined): Record<string, Value> {
  const made: [string, Value][] = []
  for (const entry of entriesOf(node)) {
    const value = make(entry)
    if (value !== undefined) made.push([entry.key, value])
  }
  return Object.fromEntries(made)
}

export function makeConnections(context: DefinitionContext, node: Node | undefined): Record<string, ClassUse> {
  return mapEntries(node, ({ key, keySpan, value }) => {
    if (key === 'System') {
      const hint = 'System is built in: it is the database in WAYPOST_SYSTEM_URL and needs no entry'
      const parameters = { name: key, owner: 'a connection' }
      context.loading.report.add({ code: 'WP_DEFINITION_NAME_INVALID', at: keySpan, parameters, hint })
    }
    return value.kind === 'map' ? makeClassUse(context, value, 'connection') : undefined
  })
}

/** Only checks named actions. Methods that use them contain them. */
export function checkActions(context: DefinitionContext, node: Node | undefined): void {
  for (const { key, keySpan, value } of entriesOf(node)) {
    if (value.kind === 'map') makeClassUse(context, value, 'action')
    if (!/\.[tj]s$/.test(key)) continue
    const hint = 'Names that end in .ts or .js always refer to files'
    const parameters = { name: key, owner: 'an action' }
    context.loading.report.add({ code: 'WP_DEFINITION_NAME_INVALID', at: keySpan, parameters, hint })
  }
}

export function makeEvents(context: DefinitionContext, node: Node | undefined): Record<string, EventDefinition> {
  return mapEntries(node, ({ value }) => {
    const schema = valueOf(value, 'schema')
    const scopes = valueOf(value, 'scopes')
    recordScopes(context, itemsOf(scopes))
    const isPrivate = isTrue(valueOf(value, 'private'))
    if (isPrivate && scopes !== undefined) {
      const problem = 'A private event has no scopes, because no consumer receives it'
      context.loading.report.add({ code: 'WP_DEFINITION_VALUE_INVALID', at: scopes, parameters: { problem } })
    }
    return omitUndefined({
      description: textOf(valueOf(value, 'description')),
      schema: schema === undefined ? undefined : makeSchema(context.schemas, schema),
      scopes: scopes === undefined ? undefined : textsOf(scopes),
      private: isPrivate ? (true as const) : undefined,
    })
  })
}

export function describeScopes(context: DefinitionContext, node: Node | undefined): void {
  for (const { key, value } of entriesOf(node)) {
    context.scopes.set(key, omitUndefined({ description: textOf(valueOf(value, 'description')) }))
  }
}

/** Reads the cronjobs. Values are checked if their variables are known. */
export function makeCronjobs(
  context: DefinitionContext,
  node: Node | undefined,
  variables: Variables = {},
): Record<string, Cronjob> {
  return mapEntries(node, ({ value }) => {
    const schedule = valueOf(value, 'schedule')
    const timezone = valueOf(value, 'timezone')
    const timeout = valueOf(value, 'timeout')
    for (const at of [schedule, timezone, timeout]) if (at !== undefined) context.variablePlaces.push(at)
    const known = { context, variables }
    checkCron(known, schedule, checkSchedule)
    checkCron(known, timezone, checkTimezone)
    checkCron(known, timeout, checkCronjobTimeout)
    const action = makeAction(context, valueOf(value, 'action'))
    if (action !== undefined && 'class' in action)
      context.codeClasses.push({ name: action.class, at: valueOf(value, 'action')!, user: 'A cronjob' })
    const text = cronTextOf(context, schedule)
    if (text === undefined || action === undefined) return undefined
    const [zone, limit] = [timezone, timeout].map((at) => cronTextOf(context, at))
    return omitUndefined({ schedule: text, timezone: zone, timeout: limit, action })
  })
}

type CronProblem = string | { readonly problem: string; readonly hint?: string | undefined } | undefined
type CronCheck = (text: string, report: Report) => CronProblem

interface Known {
  readonly context: DefinitionContext
  readonly variables: Variables
}

function cronTextOf(context: DefinitionContext, node: Node | undefined): string | undefined {
  return node === undefined || textOf(node) === undefined ? undefined : (configOf(context, node) as string)
}

function checkCron({ context, variables }: Known, at: Node | undefined, check: CronCheck): void {
  const { loading } = context
  const written = cronTextOf(context, at)
  if (at === undefined || written === undefined) return
  const { value: text } = resolveReferences(written, variables)
  if (hasReferences(text)) return
  const wrong = check(text, loading.report)
  if (wrong === undefined) return
  const { problem, hint } = typeof wrong === 'string' ? { problem: wrong } : wrong
  loading.report.add({ code: 'WP_DEFINITION_CRON_INVALID', at, parameters: { problem }, hint })
}

/** Records the variables that actions may read. */
export function declareVariables({ loading: { report }, declared }: DefinitionContext, node: Node | undefined): void {
  for (const { key: name, keySpan: at, value } of entriesOf(node)) {
    if (name.startsWith('WAYPOST_')) report.add({ code: 'WP_DEFINITION_ENV_RESERVED', at, parameters: { name } })
    const written = textOf(valueOf(value, 'type')) ?? 'string'
    const type = variableTypes.find((one) => one === written)
    const fallback = valueOf(value, 'default')
    const secret = toPlain(valueOf(value, 'secret')) === true
    if (type === undefined || (fallback !== undefined && !checkDefault(report, fallback, { name, type, secret })))
      continue
    const variable = omitUndefined({
      type,
      description: textOf(valueOf(value, 'description')),
      default: toPlain(fallback) as VariableValue | undefined,
      secret: secret ? (true as const) : undefined,
    })
    declared.set(name, { variable, at })
  }
}

function toPlain(node: Node | undefined): unknown {
  return node === undefined ? undefined : toValue(node)
}

type DefaultContext = Pick<DeclaredVariable, 'type'> & { readonly name: string; readonly secret: boolean }

/** An empty default makes a secret optional. Any other default would be readable in each release. */
function checkDefault(report: Report, at: Node, { name, type, secret }: DefaultContext): boolean {
  const code = 'WP_DEFINITION_VALUE_INVALID'
  if (at.kind !== 'scalar' || at.value === null) return false // reported by checkStructure
  if (!isOfType(at.value, type)) {
    const own = describeNode(at)
    const others = variableTypes.filter((other) => isOfType(at.value, other))
    const hint = [...others.map((other) => `Add type: ${other}`), ...(type === 'string' ? [`quote it: "${own}"`] : [])]
    const problem = `The default of "${name}" must be ${describeType(type)}, not ${own}`
    report.add({ code, at, parameters: { problem }, hint: hint.join(', or ') || undefined })
    return false
  }
  if (secret && at.value !== '') {
    const problem = `The secret variable "${name}" has a default, which every release would contain`
    report.add({
      code,
      at,
      parameters: { problem },
      hint: 'Remove the default, or write default: "" to make the variable optional',
    })
    return false
  }
  return true
}

export function makeRates({ loading, sections }: DefinitionContext, node: Node | undefined): Record<string, Rate> {
  return mapEntries(node, ({ value }) => {
    const limit = valueOf(value, 'limit')
    const window = valueOf(value, 'window')
    const text = textOf(window)
    const windowMs = text === undefined ? undefined : parseDuration(text)
    if (window !== undefined && text !== undefined && (windowMs === undefined || windowMs < 1000)) {
      const expected = windowMs === undefined ? 'a duration such as 30s or 5m' : 'at least 1s'
      const problem = `"window" must be ${expected}, not "${text}"`
      loading.report.add({ code: 'WP_DEFINITION_VALUE_INVALID', at: window, parameters: { problem } })
    }
    const at = valueOf(value, 'connection')
    const connection = textOf(at)
    if (at !== undefined && connection !== undefined && connection !== 'System')
      checkName(sections.connection, connection, { at, report: loading.report })
    if (limit?.kind !== 'scalar' || typeof limit.value !== 'number' || windowMs === undefined) return undefined
    const by = textOf(valueOf(value, 'by')) === 'address' ? 'address' : 'principal'
    return omitUndefined({ limit: limit.value, windowMs, by, connection })
  })
}

const packageName = /^(@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/
const localPlugin = /^\.\/[^\\]+\.[tj]s$/

export function makePlugins(context: DefinitionContext, node: Node | undefined): PluginUse[] {
  const { report } = context.loading
  const plugins = new Map<string, PluginUse>()
  for (const item of itemsOf(node)) {
    const at = item.kind === 'map' ? valueOf(item, 'name') : item
    const name = textOf(at)
    if (at === undefined || name === undefined || name === '') continue
    const invalid = (problem: string, hint: string) =>
      report.add({ code: 'WP_DEFINITION_VALUE_INVALID', at, parameters: { problem }, hint })
    const host = isTrue(valueOf(item, 'host'))
    const config = valueOf(item, 'config')
    context.classUses.push({ kind: 'plugin', node: item })
    if (config !== undefined) context.variablePlaces.push(config)
    if (!isPluginName(name)) {
      const hint = 'Use the name of an npm package, as in package.json, or a file such as ./plugins/geo.ts'
      report.add({ code: 'WP_DEFINITION_NAME_INVALID', at, parameters: { name, owner: 'a plugin' }, hint })
      continue
    }
    if (host && localPlugin.test(name))
      invalid(`The plugin ${name} is a file of the project, and cannot be installed on servers`, 'Remove "host"')
    if (plugins.has(name)) invalid(`The plugin "${name}" is listed twice`, 'Remove one of the two')
    plugins.set(name, {
      name,
      ...(host && { host }),
      config: config?.kind === 'map' ? (configOf(context, config) as Record<string, unknown>) : {},
      at: locationOf(at),
    })
  }
  return [...plugins.values()]
}

function isPluginName(name: string): boolean {
  return localPlugin.test(name) ? !name.split('/').includes('..') : packageName.test(name)
}

function isTrue(node: Node | undefined): boolean {
  return node?.kind === 'scalar' && node.value === true
}
