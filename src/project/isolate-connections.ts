import path from 'node:path'
import type { ConnectionClass, OpenConnection } from '../contract/index.ts'
import { isWaypostError, makeUuid, nearest, resolveReferences, variable, type Variables } from '../kit/index.ts'
import { findVariableUses, type Manifest } from '../release/index.ts'
import type { TestDatabases } from '../server/index.ts'
import type { LoadedPlugin } from '../plugin/index.ts'
import { isLoopbackHost } from './allowed-hosts.ts'
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
 * other classes throw when they are used, unless the test replaces them.
 * @throws WP_PROJECT_TEST_REPLACED, WP_PROJECT_TEST_VARIABLE, and the errors of
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
    const replacement = isolation.replacements[name] ?? (await isolateConnection(name, use, isolation))
    if ('config' in replacement) {
      connections[name] = { class: use.class, config: replacement.config }
      continue
    }
    const fake = `test client ${name}`
    const fakeClass = 'client' in replacement ? makeFake(replacement.client) : makeUnusable(replacement.error)
    classes.set(fake, { class: fakeClass, by: testPlugin })
    connections[name] = { class: fake, config: {} }
    withoutMigrations.add(name)
  }
  const migrations = manifest.migrations.filter(({ connection }) => !withoutMigrations.has(connection))
  const rates = Object.fromEntries(Object.entries(manifest.rates).map(([name, rate]) => [name, countHere(rate)]))
  const isolated = keepUsedVariables({ ...manifest, connections, migrations, rates })
  assertVariables(isolated, isolation.variables)
  return { release: { ...release, manifest: isolated }, plugins: { ...plugins, connections: classes } }
}

/** A connection that cannot be isolated has an error, which is thrown when it is used: most tests use other ones. */
async function isolateConnection(
  name: string,
  use: Manifest['connections'][string],
  { home, databases, variables }: Isolation,
): Promise<{ readonly config: Readonly<Record<string, unknown>> } | { readonly error: Error }> {
  if (use.class === 'sqlite') return { config: { ...use.config, file: path.join(home, `${makeUuid()}.db`) } }
  if (use.class === 'http' && isLocal(use.config['url'], variables)) return { config: use.config }
  if (use.class !== 'postgresql') return { error: errors.WP_PROJECT_TEST_CONNECTION({ name, class: use.class }) }
  try {
    return { config: { ...use.config, url: await databases.create(`The connection "${name}"`) } }
  } catch (error) {
    if (isWaypostError(error) && error.code === 'WP_SERVER_TEST_SERVER') return { error }
    throw error
  }
}

/** Whether a URL is one of this machine, such as that of a server which the test has started. */
function isLocal(url: unknown, variables: Variables): boolean {
  const { value } = resolveReferences(url, variables)
  return typeof value === 'string' && URL.canParse(value) && isLoopbackHost(new URL(value).hostname)
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
  return { ...fakeClass, open: async () => ({ client, ...idle }) }
}

/** Throws when an action uses the client or opens a transaction. */
function makeUnusable(error: Error): ConnectionClass {
  const fail = () => {
    throw error
  }
  const unusable = Object.defineProperties({ ...idle }, { client: { get: fail }, transaction: { get: fail } })
  return { ...fakeClass, open: async () => unusable as OpenConnection }
}

const fakeClass = { description: 'A client passed by a test', config: {}, clientType: 'unknown' }
const nothing = async () => undefined
const idle = { check: nothing, close: nothing }

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
