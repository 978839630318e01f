import {
  defaultSettings,
  hasReferences,
  parseSettings,
  removedSettings,
  resolveReferences,
  type SettingProblem,
  type Variables,
} from '../kit/index.ts'
import { configOf, recordScopes, type DefinitionContext } from './definition-context.ts'
import { describeNode, hintForCut, isEmpty, itemsOf, valueOf, type Entry, type MapNode, type Node } from './node.ts'
import type { Span } from './source.ts'

export interface CheckedConfig {
  /** The settings as written. */
  readonly written: Readonly<Record<string, unknown>>
  /** The scopes of each new user; undefined if they depend on unset variables. */
  readonly defaultScopes: readonly string[] | undefined
  /** The maximum size of a request body in bytes; undefined if it depends on unset variables. */
  readonly bodyLimit: number | undefined
}

/** Checks the settings below `config:` whose variables are known. */
export function checkConfig(
  context: DefinitionContext,
  config: Node | undefined,
  variables: Variables = {},
): CheckedConfig {
  if (config?.kind !== 'map') {
    if (config !== undefined && config.kind !== 'broken' && !isEmpty(config)) reportNotMap(context, config)
    return { written: {}, defaultScopes: defaultSettings.scopes_default, bodyLimit: defaultSettings.body_limit }
  }
  context.variablePlaces.push(config)
  const written: [string, unknown][] = []
  const known: [string, unknown][] = []
  for (const { key, value } of config.entries.values()) {
    const plain = configOf(context, value)
    written.push([key, plain])
    const { value: resolved, missing } = resolveReferences(plain, variables)
    const isBroken = value.kind === 'broken' || (missing.length === 0 && hasReferences(JSON.stringify(resolved)))
    if (missing.length === 0 && !isBroken) known.push([key, resolved])
  }
  const { settings, problems } = parseSettings(Object.fromEntries(known))
  for (const problem of problems) reportSetting(context, config, problem)
  for (const { key, keySpan } of config.entries.values()) {
    if (!removedSettings.includes(key)) continue
    const parameters = { name: key }
    context.loading.report.add({ code: 'WP_DEFINITION_SETTING_REMOVED', severity: 'warning', at: keySpan, parameters })
  }
  const scopes = config.entries.get('scopes_default')?.value
  recordScopes(context, splitList(scopes))
  const isKnown = (name: string) => !config.entries.has(name) || known.some(([key]) => key === name)
  return {
    written: Object.fromEntries(written),
    defaultScopes: isKnown('scopes_default') ? settings.scopes_default : undefined,
    bodyLimit: isKnown('body_limit') ? settings.body_limit : undefined,
  }
}

/** Returns the items of a list, which may be written as text with commas. */
function splitList(list: Node | undefined): readonly Node[] {
  if (list?.kind !== 'scalar' || typeof list.value !== 'string') return itemsOf(list)
  const items = list.value.split(',').map((item) => item.trim())
  return items.filter((item) => item !== '').map((value) => ({ ...list, value }))
}

function reportNotMap({ loading }: DefinitionContext, at: Node): void {
  const problem = `"config" must be a map of settings to values, not ${describeNode(at)}`
  loading.report.add({ code: 'WP_DEFINITION_VALUE_INVALID', at, parameters: { problem } })
}

function reportSetting(
  { loading }: DefinitionContext,
  config: MapNode,
  { name, path, isUnknown, message, hint }: SettingProblem,
): void {
  const entry = config.entries.get(name)
  if (entry === undefined) return
  const unknown = isUnknown === true ? findEntry(entry, path) : undefined
  if (unknown?.cut?.isFirst === false) return
  loading.report.add({
    code: 'WP_DEFINITION_SETTING_INVALID',
    at: unknown?.keySpan ?? placeOf(entry, path),
    parameters: { problem: message },
    hint: hintForCut(unknown?.cut) ?? hint,
  })
}

function placeOf(entry: Entry, path: SettingProblem['path']): Span {
  let node: Node | undefined = entry.value
  for (const key of path) node = typeof key === 'number' ? (itemsOf(node)[key] ?? node) : (valueOf(node, key) ?? node)
  return node
}

function findEntry(entry: Entry, [key]: SettingProblem['path']): Entry {
  const inner = entry.value.kind === 'map' ? entry.value.entries.get(String(key)) : undefined
  return inner ?? entry
}
