import type { ActionClass, TablesSnapshot } from '../../contract/index.ts'
import type { ActionToDescribe, DescribedAction } from '../../definition/index.ts'
import { messageOf } from '../../kit/index.ts'
import { trackUse, type PluginSet } from '../../plugin/index.ts'
import type { BuiltPlugin, PluginBuilder } from './build-plugins.ts'

export interface DescribeSources {
  /** The classes that ship with Waypost, which run in this process. */
  readonly builtIn: PluginSet['actions']
  /** Plugins whose code only runs in the builder's child process. */
  readonly plugins: readonly BuiltPlugin[]
  readonly builder: Pick<PluginBuilder, 'describe'>
  /** By connection. */
  readonly tables: Readonly<Record<string, TablesSnapshot>>
}

export interface DescribedActions {
  /** In the order of the actions. */
  readonly results: readonly DescribedAction[]
  /** The connections whose tables were read. */
  readonly used: ReadonlySet<string>
}

interface KnownDescription {
  readonly described: DescribedAction
  /** The connections whose tables were read. */
  readonly used: ReadonlySet<string>
}

/** The descriptions of actions from the last load, and the inputs that all of them share. */
interface KnownDescriptions {
  readonly shared: string
  /** By what the action says itself. */
  readonly byAction: ReadonlyMap<string, KnownDescription & { readonly actions: string }>
}

const lastKnown = new WeakMap<DescribeSources['builder'], KnownDescriptions>()

/**
 * Calls `describe` of action classes: of Waypost's own in this process, of others in a child process. Does not call it
 * again for what is the same as in the last load with the same builder.
 */
export async function describeActions(
  sources: DescribeSources,
  actions: readonly ActionToDescribe[],
): Promise<DescribedActions> {
  const { builtIn, plugins, builder, tables } = sources
  const [first] = actions
  const { schemas, events, connections } = first?.use ?? {}
  const shared = JSON.stringify([schemas, events, connections, Object.entries(tables).map(textOf)])
  const before = lastKnown.get(builder)
  const earlier = before?.shared === shared ? before.byAction : new Map<never, never>()
  const known = new Map<string, KnownDescription>()
  const actionTexts = new Map<unknown, string>()
  const textOfOthers = ({ use }: ActionToDescribe): string => {
    const text = actionTexts.get(use.actions) ?? JSON.stringify([use.actions, use.methods])
    actionTexts.set(use.actions, text)
    return text
  }
  const keys = actions.map((action) => keyOf(action, plugins))
  const foreign = new Map<string, { readonly action: ActionToDescribe; readonly plugin: BuiltPlugin }>()
  for (const [index, action] of actions.entries()) {
    const key = keys[index]!
    if (known.has(key)) continue
    const found = earlier.get(key)
    if (found?.actions === textOfOthers(action)) {
      known.set(key, found)
      continue
    }
    const own = builtIn.get(action.class)?.class
    const plugin = findPlugin(plugins, action)
    if (own !== undefined) known.set(key, keepEqual(describeOwn(own, action, tables), found))
    else if (plugin !== undefined) foreign.set(key, { action, plugin })
  }
  if (foreign.size > 0) {
    const found = await describeForeign([...foreign.values()], sources)
    for (const [index, key] of [...foreign.keys()].entries()) known.set(key, keepEqual(found[index]!, earlier.get(key)))
  }
  const found = keys.map((key) => known.get(key) ?? { described: { description: {} }, used: new Set<string>() })
  const kept = keys.flatMap((key, index) =>
    'problem' in found[index]!.described
      ? []
      : [[key, { ...found[index]!, actions: textOfOthers(actions[index]!) }] as const],
  )
  lastKnown.set(builder, { shared, byAction: new Map(kept) })
  const used = new Set<string>()
  for (const one of found) for (const connection of one.used) used.add(connection)
  return { results: found.map(({ described }) => described), used }
}

/** Keeps the description of the last load if it is the same, because checking the schemas of a new one takes longer. */
function keepEqual(found: KnownDescription, earlier: KnownDescription | undefined): KnownDescription {
  const isSame = earlier !== undefined && JSON.stringify(earlier.described) === JSON.stringify(found.described)
  return isSame ? { ...found, described: earlier.described } : found
}

/** The texts of snapshots, which are the same objects as in the last load if no migration has changed. */
const tableTexts = new WeakMap<TablesSnapshot, string>()

function textOf([connection, snapshot]: readonly [string, TablesSnapshot]): readonly string[] {
  const text = tableTexts.get(snapshot) ?? JSON.stringify(snapshot)
  tableTexts.set(snapshot, text)
  return [connection, text]
}

function findPlugin(plugins: readonly BuiltPlugin[], { class: name }: ActionToDescribe): BuiltPlugin | undefined {
  return plugins.find(({ manifest }) => Object.hasOwn(manifest.catalog.actions, name))
}

/** Actions with equal keys have equal descriptions if their shared inputs are equal too. */
function keyOf(action: ActionToDescribe, plugins: readonly BuiltPlugin[]): string {
  const { schemas: _, events: __, connections: ___, actions: ____, methods: _____, ...use } = action.use
  return JSON.stringify([findPlugin(plugins, action)?.source.key, action.class, action.config, use])
}

function describeOwn(
  own: ActionClass,
  { config, use }: ActionToDescribe,
  given: DescribeSources['tables'],
): KnownDescription {
  const { tables, used } = trackUse(given)
  try {
    return { described: { description: own.describe?.(config, use, tables) ?? {} }, used }
  } catch (error) {
    return { described: { problem: messageOf(error) }, used }
  }
}

async function describeForeign(
  asked: readonly { readonly action: ActionToDescribe; readonly plugin: BuiltPlugin }[],
  { builder, tables }: Pick<DescribeSources, 'builder' | 'tables'>,
): Promise<readonly KnownDescription[]> {
  const orders = asked.map(({ action, plugin }) => ({ ...action, plugin: plugin.source.key }))
  const sources = [...new Set(asked.map(({ plugin }) => plugin.source))]
  try {
    const answer = await builder.describe(orders, { sources, tables })
    const used = new Set(answer.used)
    return answer.descriptions.map((one) => ({
      described: 'json' in one ? { description: JSON.parse(one.json) as unknown } : one,
      used,
    }))
  } catch (error) {
    return asked.map(() => ({ described: { problem: messageOf(error) }, used: new Set<string>() }))
  }
}
