import type { ActionUse, ClassUse, Definition, HttpMethod, Method } from '../definition/index.ts'
import type {
  Artifact,
  Manifest,
  ManifestAction,
  ManifestClass,
  ManifestMethod,
  ManifestMigration,
} from '../release/index.ts'
import { compareText } from './compare-text.ts'
import { normalizeFile } from './find-entries.ts'
import type { MigrationSource } from './load-migrations.ts'

export interface ManifestParts {
  readonly name: string
  readonly version: string
  readonly migrations: readonly MigrationSource[]
  readonly artifacts: readonly Artifact[]
  /** The SHA-256 of the artifact of an entry file. */
  readonly hashOf: (file: string) => string
}

const methodOrder: readonly HttpMethod[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/** Makes the manifest: the definition without its places, in an order that does not depend on that of the files. */
export function makeManifest(definition: Definition, parts: ManifestParts): Manifest {
  const { name, version, migrations, artifacts, hashOf } = parts
  return {
    format: 1,
    waypost: version,
    name,
    routes: definition.routes
      .toSorted((a, b) => compareText(a.path, b.path))
      .map(({ path, deprecated, methods }) => ({
        path,
        ...present({ deprecated }),
        methods: methods
          .toSorted((a, b) => methodOrder.indexOf(a.method) - methodOrder.indexOf(b.method))
          .map((method) => makeMethod(method, hashOf)),
      })),
    schemas: sortKeys(definition.schemas),
    connections: mapValues(definition.connections, makeClass),
    events: sortKeys(definition.events),
    scopes: sortKeys(definition.scopes),
    cronjobs: mapValues(definition.cronjobs, ({ schedule, timezone, action }) => ({
      schedule,
      ...present({ timezone }),
      action: makeAction(action, hashOf),
    })),
    rates: sortKeys(definition.rates),
    config: sortKeys(definition.config),
    plugins: definition.plugins.map((plugin) => ({ name: plugin.name, config: plugin.config })),
    variables: sortKeys(definition.variables),
    migrations: migrations.map((migration) => makeMigration(migration, hashOf)),
    artifacts: sortKeys(Object.fromEntries(artifacts.map(({ hash, content }) => [hash, Buffer.byteLength(content)]))),
  }
}

function makeMethod(method: Method, hashOf: ManifestParts['hashOf']): ManifestMethod {
  const { action, at, ...rest } = method
  return { ...rest, action: makeAction(action, hashOf), source: `${at.file}:${at.line}` }
}

function makeAction(action: ActionUse, hashOf: ManifestParts['hashOf']): ManifestAction {
  if (!('file' in action)) return makeClass(action)
  const file = normalizeFile(action.file)
  return { artifact: hashOf(file), file }
}

function makeClass(use: ClassUse): ManifestClass {
  return { class: use.class, config: use.config }
}

function makeMigration({ connection, name, checksum, file }: MigrationSource, hashOf: ManifestParts['hashOf']): ManifestMigration {
  return { connection, name, checksum, artifact: hashOf(file) }
}

/** Without the properties that are undefined. */
function present<T extends object>(properties: T): { [Key in keyof T]?: Exclude<T[Key], undefined> } {
  return Object.fromEntries(Object.entries(properties).filter(([, value]) => value !== undefined)) as never
}

function sortKeys<T>(record: Readonly<Record<string, T>>): Record<string, T> {
  return mapValues(record, (value) => value)
}

function mapValues<T, U>(record: Readonly<Record<string, T>>, map: (value: T) => U): Record<string, U> {
  const keys = Object.keys(record).sort(compareText)
  return Object.fromEntries(keys.map((key) => [key, map(record[key]!)]))
}
