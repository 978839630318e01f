import type { Databases } from '../contract/index.ts'
import type { PluginSet } from '../plugin/index.ts'
import type { Manifest } from '../release/index.ts'
import type { System } from '../store/index.ts'

/** Returns the database of each connection of a release whose class names one, and that of System. */
export function findDatabases(
  { connections }: Pick<Manifest, 'connections'>,
  { connections: classes }: Pick<PluginSet, 'connections'>,
  { kind }: Pick<System, 'kind'>,
): Databases {
  const own = Object.entries(connections).flatMap(([name, use]) => {
    const database = classes.get(use.class)?.class.migrations
    return database === undefined ? [] : [[name, database] as const]
  })
  return Object.fromEntries([...own, ['System', kind]])
}
