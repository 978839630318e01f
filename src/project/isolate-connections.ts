import path from 'node:path'
import type { ConnectionClass } from '../contract/index.ts'
import { makeUuid, nearest, variable, type Variables } from '../kit/index.ts'
import { findVariableUses, type Manifest } from '../release/index.ts'
import type { TestDatabases } from '../server/index.ts'
import type { LoadedPlugin } from '../plugin/index.ts'
import { errors } from './errors.ts'
import type { LoadedRelease } from './migrate.ts'

/**
 * The replacement of a connection in tests: another config of its class, or a client that `context.connection` returns.
 */
export type TestConnection = { readonly config: Readonly<Record<string, unknown>> } | { readonly client: object }

export interface Isolation {
  /** The project's folder, to which paths in configs are relative. */
  readonly folder: string
  readonly variables: Variables
  readonly replacements: Readonly<Record<string, TestConnection | undefined>>
  /** The folder for SQLite files. */
  readonly home: string
  readonly databases: Pick<TestDatabases, 'create'>
}

/**
 * Gives each connection of a built project its own database, so that tests never use the configured one. Connections of
 * other classes must be replaced.
 * @throws WP_PROJECT_TEST_CONNECTION, WP_PROJECT_TEST_REPLACED, WP_PROJECT_TEST_VARIABLE, and the errors of
 * `TestDatabases.create`
 */
export async function isolateConnections(
  { release, plugins }: LoadedRelease,
  isolation: Isolation,
): Promise<LoadedRelease> {
  const { manifest } = release
  assertKnown(manifest, isolation)
  const classes = new Map(
    [...plugins.connections].map(([name, one]) => [name, { ...one, class: openFrom(isolation.folder, one.class) }]),
  )
  const connections: Record<string, Manifest['connections'][string]> = {}
  const withoutMigrations = new Set<string>()
  for (const [name, use] of Object.entries(manifest.connections)) {
    const replacement = isolation.replacements[name]
    if (replacement !== undefined && 'client' in replacement) {
      const fake = `test client ${name}`
      classes.set(fake, { class: makeFake(replacement.client), by: testPlugin })
      connections[name] = { class: fake, config: {} }
      withoutMigrations.add(name)
    } else {
      const config = replacement?.config ?? (await isolateConfig(name, use, isolation))
      connections[name] = { class: use.class, config }
    }
  }
  const migrations = manifest.migrations.filter(({ connection }) => !withoutMigrations.has(connection))
  const rates = Object.fromEntries(Object.entries(manifest.rates).map(([name, rate]) => [name, countHere(rate)]))
  const isolated = keepUsedVariables({ ...manifest, connections, migrations, rates })
  assertVariables(isolated, isolation.variables)
  return { release: { ...release, manifest: isolated }, plugins: { ...plugins, connections: classes } }
}

async function isolateConfig(
  name: string,
  use: Manifest['connections'][string],
  { home, databases }: Isolation,
): Promise<Readonly<Record<string, unknown>>> {
  if (use.class === 'sqlite') return { ...use.config, file: path.join(home, `${makeUuid()}.db`) }
  if (use.class !== 'postgresql') throw errors.WP_PROJECT_TEST_CONNECTION({ name, class: use.class })
  return { ...use.config, url: await databases.create(`The connection "${name}"`) }
}

function assertKnown({ connections }: Manifest, { replacements }: Isolation): void {
  for (const name of Object.keys(replacements)) {
    if (Object.hasOwn(connections, name)) continue
    const guess = nearest(name, Object.keys(connections))
    const other = guess === undefined ? 'waypost.yml has no connection with this name.' : `Did you mean "${guess}"?`
    const hint = name === 'System' ? 'Its database is always new; choose its kind with the option system.' : other
    throw errors.WP_PROJECT_TEST_REPLACED({ name, hint })
  }
}

/** Test servers run in their own folder, but paths are relative to the project. */
function openFrom(folder: string, original: ConnectionClass): ConnectionClass {
  return {
    ...original,
    open: (config, options) => original.open(config, { ...options, folder }),
    ...(original.isThere && { isThere: (config) => original.isThere!(config, { folder }) }),
  }
}

/** The counters of a remote system would outlive the app and ignore its clock. */
function countHere({ connection: _, ...rate }: Manifest['rates'][string]): Manifest['rates'][string] {
  return rate
}

/** Provides the clients that a test passes. */
const testPlugin: LoadedPlugin = {
  plugin: { name: 'waypost-testing' },
  version: 'test',
  config: {},
}

function makeFake(client: object): ConnectionClass {
  const nothing = async () => undefined
  return {
    description: 'A client passed by a test',
    config: {},
    clientType: 'unknown',
    open: async () => ({ client, check: nothing, close: nothing }),
  }
}

/** Drops variables that only replaced connections used. */
function keepUsedVariables(manifest: Manifest): Manifest {
  const used = Object.entries(manifest.variables).filter(([name]) => findVariableUses(manifest, name).length > 0)
  return { ...manifest, variables: Object.fromEntries(used) }
}

function assertVariables({ variables }: Manifest, values: Variables): void {
  for (const [name, { optional }] of Object.entries(variables)) {
    if (optional || variable(values, name) !== undefined) continue
    throw errors.WP_PROJECT_TEST_VARIABLE({ name })
  }
}
