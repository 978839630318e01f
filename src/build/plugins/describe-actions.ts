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

/** Calls `describe` of action classes: of Waypost's own in this process, of others in a child process. */
export async function describeActions(
  sources: DescribeSources,
  actions: readonly ActionToDescribe[],
): Promise<DescribedActions> {
  const { builtIn, plugins } = sources
  const { tables, used } = trackUse(sources.tables)
  const found = new Map<ActionToDescribe, DescribedAction>()
  const foreign: { readonly action: ActionToDescribe; readonly plugin: BuiltPlugin }[] = []
  for (const action of actions) {
    const own = builtIn.get(action.class)?.class
    const plugin = plugins.find(({ manifest }) => Object.hasOwn(manifest.catalog.actions, action.class))
    if (own !== undefined) found.set(action, describeOwn(own, action, tables))
    else if (plugin !== undefined) foreign.push({ action, plugin })
  }
  if (foreign.length > 0) {
    const results = await describeForeign(foreign, { ...sources, used })
    for (const [index, { action }] of foreign.entries()) found.set(action, results[index]!)
  }
  return { results: actions.map((action) => found.get(action) ?? { description: {} }), used }
}

function describeOwn(
  own: ActionClass,
  { config, use }: ActionToDescribe,
  tables: DescribeSources['tables'],
): DescribedAction {
  try {
    return { description: own.describe?.(config, use, tables) ?? {} }
  } catch (error) {
    return { problem: messageOf(error) }
  }
}

async function describeForeign(
  asked: readonly { readonly action: ActionToDescribe; readonly plugin: BuiltPlugin }[],
  { builder, tables, used }: Pick<DescribeSources, 'builder' | 'tables'> & { readonly used: Set<string> },
): Promise<readonly DescribedAction[]> {
  const orders = asked.map(({ action, plugin }) => ({ ...action, plugin: plugin.source.key }))
  const sources = [...new Set(asked.map(({ plugin }) => plugin.source))]
  try {
    const answer = await builder.describe(orders, { sources, tables })
    for (const connection of answer.used) used.add(connection)
    return answer.descriptions.map((one) => ('json' in one ? { description: JSON.parse(one.json) as unknown } : one))
  } catch (error) {
    return asked.map(() => ({ problem: messageOf(error) }))
  }
}
