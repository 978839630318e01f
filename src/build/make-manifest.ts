import type { ActionUse, ClassUse, Definition, HttpMethod, Method, Route } from '../definition/index.ts'
import type {
  Artifact,
  Manifest,
  ManifestAction,
  ManifestClass,
  ManifestMethod,
  ManifestMigration,
  ManifestPlugin,
  ManifestRoute,
} from '../release/index.ts'
import { describeBreaking, describeRewrites } from '../tables/index.ts'
import type { StaticFiles } from './collect-static.ts'
import { compareText } from './compare-text.ts'
import { normalizeFile } from './find-entries.ts'
import type { MigrationSource } from './load-migrations.ts'

type HashOf = (file: string) => string

export interface ManifestParts {
  readonly version: string
  readonly migrations: readonly MigrationSource[]
  readonly artifacts: readonly Artifact[]
  readonly plugins: readonly ManifestPlugin[]
  readonly staticFiles?: StaticFiles
  /** Returns the SHA-256 of the artifact of an entry file. */
  readonly hashOf: HashOf
}

const methodOrder: readonly HttpMethod[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/**
 * Creates the manifest: the definition without locations, in an order that does not depend on the order of its files.
 */
export function makeManifest(definition: Definition, parts: ManifestParts): Manifest {
  const { version, migrations, artifacts, hashOf } = parts
  return {
    format: 2,
    waypost: version,
    routes: definition.routes.toSorted((a, b) => compareText(a.path, b.path)).map((route) => makeRoute(route, hashOf)),
    ...(definition.groups && { groups: sortKeys(definition.groups) }),
    ...(definition.static && { static: makeStatic(definition.static, parts.staticFiles) }),
    schemas: sortKeys(definition.schemas),
    connections: mapValues(definition.connections, makeClass),
    events: sortKeys(definition.events),
    scopes: sortKeys(definition.scopes),
    ...(Object.keys(definition.listeners).length > 0 && {
      listeners: mapValues(definition.listeners, ({ action, ...rest }) => ({
        ...rest,
        action: makeAction(action, hashOf),
      })),
    }),
    cronjobs: mapValues(definition.cronjobs, ({ action, ...rest }) => ({
      ...rest,
      action: makeAction(action, hashOf),
    })),
    rates: sortKeys(definition.rates),
    config: sortKeys(definition.config),
    plugins: parts.plugins,
    variables: sortKeys(definition.variables),
    migrations: migrations.map((migration) => makeMigration(migration, hashOf)),
    artifacts: sortKeys(Object.fromEntries(artifacts.map(({ hash, content }) => [hash, Buffer.byteLength(content)]))),
  }
}

function makeStatic(
  folders: NonNullable<Definition['static']>,
  files: StaticFiles = {},
): NonNullable<Manifest['static']> {
  return mapValues(folders, ({ at: _, ...folder }, at) => ({ ...folder, files: files[at] ?? {} }))
}

function makeRoute({ methods, at: _, ...rest }: Route, hashOf: HashOf): ManifestRoute {
  const sorted = methods.toSorted((a, b) => methodOrder.indexOf(a.method) - methodOrder.indexOf(b.method))
  return { ...rest, methods: sorted.map((method) => makeMethod(method, hashOf)) }
}

function makeMethod(method: Method, hashOf: HashOf): ManifestMethod {
  const { action, steps, at: _, ...rest } = method
  const made = steps?.map((step) => ({ name: step.name, action: makeAction(step.action, hashOf) }))
  return { ...rest, ...(made && { steps: made }), action: makeAction(action, hashOf) }
}

function makeAction(action: ActionUse, hashOf: HashOf): ManifestAction {
  if (!('file' in action)) return { ...makeClass(action), ...(action.plan === undefined ? {} : { plan: action.plan }) }
  const file = normalizeFile(action.file)
  return { artifact: hashOf(file), file }
}

function makeClass(use: ClassUse): ManifestClass {
  return { class: use.class, config: use.config }
}

function makeMigration(
  { connection, name, checksum, code, file, declared, isOutside }: MigrationSource,
  hashOf: HashOf,
): ManifestMigration {
  const breaking = declared === undefined ? [] : describeBreaking(declared.steps)
  const rewrites = declared === undefined ? [] : describeRewrites(declared.steps)
  return {
    connection,
    name,
    checksum,
    ...(code !== undefined && { code }),
    artifact: hashOf(file),
    ...(isOutside && { outside: true as const }),
    ...(declared && {
      declared: { ...(breaking.length > 0 && { breaking }), ...(rewrites.length > 0 && { rewrites }) },
    }),
  }
}

function sortKeys<T>(record: Readonly<Record<string, T>>): Record<string, T> {
  return mapValues(record, (value) => value)
}

function mapValues<T, U>(record: Readonly<Record<string, T>>, map: (value: T, key: string) => U): Record<string, U> {
  const keys = Object.keys(record).sort(compareText)
  return Object.fromEntries(keys.map((key) => [key, map(record[key]!, key)]))
}
