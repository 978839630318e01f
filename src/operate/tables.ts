import { kindsOfConnections } from '../build/index.ts'
import type { TableSnapshot, TablesSnapshot } from '../contract/index.ts'
import { parseMigration } from '../definition/index.ts'
import { inspectDatabases, loadReleasePlugins, type Host } from '../host/index.ts'
import { withDeadline } from '../kit/index.ts'
import { listActivations, loadArtifacts, loadFiles, type Manifest, type ManifestMigration } from '../release/index.ts'
import { planMigrations } from '../store/index.ts'
import { applySteps, isCovered, orderColumns, parseSnapshot, type Step } from '../tables/index.ts'
import { findActiveManifest, type FoundManifest } from './releases/describe-release.ts'

/** A table of a connection, as the active release knows it. */
export interface ListedTable {
  readonly connection: string
  readonly name: string
  readonly table: TableSnapshot
  /** The methods whose action is a class with this table in its config: `GET /todo`. */
  readonly usedBy: readonly string[]
}

export interface ListedTables {
  readonly tables: readonly ListedTable[]
  /** The files that cannot be read, with the reason. */
  readonly problems: readonly { readonly file: string; readonly problem: string }[]
}

const connectionPath = /^migrations\/([^/]+)\//

/**
 * Lists the tables of the active release after all its migrations: those of its `tables.json`, changed by the declared
 * migrations that this file does not cover. Opens no database.
 */
export async function listHostTables(host: Host): Promise<ListedTables> {
  const active = await findActiveManifest(host)
  const [activation] = active === undefined ? [] : await listActivations(host.system, active.id, 1)
  if (active === undefined || activation?.files === undefined) return { tables: [], problems: [] }
  const files = await loadFiles(host.system, activation.files)
  return listTables(active.manifest, new Map(files.map(({ path, content }) => [path, content])))
}

/**
 * Lists the tables that a definition knows: those of each tables.json, changed by the migrations that it does not cover.
 * @param texts the definition files by path
 */
export function listTables(manifest: Manifest, texts: ReadonlyMap<string, string>): ListedTables {
  const connections = new Set([...texts.keys()].flatMap((path) => connectionPath.exec(path)?.[1] ?? []))
  const tables: ListedTable[] = []
  const problems: { file: string; problem: string }[] = []
  for (const connection of connections) {
    const loaded = loadTables({ connection, manifest, texts })
    problems.push(...loaded.problems)
    for (const [name, table] of Object.entries(loaded.tables))
      tables.push({ connection, name, table, usedBy: findUsers(manifest, { connection, name }) })
  }
  return { tables, problems }
}

interface TableSources {
  readonly connection: string
  readonly manifest: Manifest
  /** The definition files by path. */
  readonly texts: ReadonlyMap<string, string>
}

function loadTables({ connection, manifest, texts }: TableSources): {
  readonly tables: TablesSnapshot['tables']
  readonly problems: ListedTables['problems']
} {
  const file = `migrations/${connection}/tables.json`
  const content = texts.get(file)
  const parsed = content === undefined ? { tables: {}, migrations: {} } : parseSnapshot(content)
  if ('problem' in parsed) return { tables: {}, problems: [{ file, problem: parsed.problem }] }
  const isInTables = (one: ManifestMigration) =>
    Object.hasOwn(parsed.migrations, one.name) && isCovered(parsed.migrations[one.name]!, one)
  const own = manifest.migrations.filter((one) => one.connection === connection)
  const kind = kindsOfConnections(manifest, manifest.plugins)[connection]
  const isPartial = own.some((one) => one.declared === undefined && !isInTables(one))
  const problems: { file: string; problem: string }[] = []
  const steps: Step[] = []
  let tables: TablesSnapshot = { tables: parsed.tables }
  for (const one of own) {
    const source = `migrations/${connection}/${one.name}.yml`
    const text = texts.get(source)
    if (one.declared === undefined || text === undefined) continue
    const declared = parseMigration(source, text).steps
    steps.push(...declared)
    if (isInTables(one)) continue
    const applied = applySteps(tables, declared, { kind, isPartial })
    tables = applied.tables
    problems.push(...applied.problems.map(({ message }) => ({ file: source, problem: message })))
  }
  return { tables: orderColumns(tables, steps).tables, problems }
}

function findUsers(
  { routes }: Manifest,
  { connection, name }: { connection: string; name: string },
): readonly string[] {
  return routes.flatMap(({ path, methods }) =>
    methods.flatMap(({ action, method }) => {
      if ('artifact' in action) return []
      const { table, connection: of = 'System' } = action.config
      return table === name && of === connection ? [`${method} ${path}`] : []
    }),
  )
}

/** A migration of the active release, compared with its database. */
export interface ListedHostMigration {
  readonly connection: string
  readonly name: string
  /** Whether it is written in YAML. */
  readonly isDeclared: boolean
  /** The steps that break code which uses the tables before them. */
  readonly breaking: readonly string[]
  /** `edited`: applied with another text. `unknown`: applied, but not in the release. Undefined if that is not known. */
  readonly state: 'applied' | 'pending' | 'edited' | 'unknown' | undefined
  /** ISO timestamp. */
  readonly appliedAt: string | undefined
}

export interface ListedHostMigrations {
  readonly migrations: readonly ListedHostMigration[]
  /** The connections whose databases cannot be read, with the reason. */
  readonly problems: readonly { readonly connection: string; readonly problem: string }[]
}

const databaseMs = 5000

/**
 * Lists the migrations of the active release, by connection and name, with whether they were applied. Opens the
 * connections of the active release that have migrations.
 */
export async function listHostMigrations(host: Host): Promise<ListedHostMigrations> {
  const active = await findActiveManifest(host)
  if (active === undefined) return { migrations: [], problems: [] }
  const byConnection = Map.groupBy(active.manifest.migrations, ({ connection }) => connection)
  const migrations: ListedHostMigration[] = []
  const problems: { connection: string; problem: string }[] = []
  for (const [connection, own] of byConnection) {
    const late = () => ({ problem: `it does not respond within ${databaseMs / 1000} s` })
    const listed = await withDeadline(planOf(host, active, { connection, own }), databaseMs, late)
    if ('problem' in listed) {
      problems.push({ connection, problem: listed.problem })
      migrations.push(...own.map((one) => describe(one, undefined)))
    } else migrations.push(...listed.migrations)
  }
  return { migrations: migrations.toSorted(compare), problems }
}

function compare(a: ListedHostMigration, b: ListedHostMigration): number {
  const [first, second] = [`${a.connection}/${a.name}`, `${b.connection}/${b.name}`]
  return first < second ? -1 : Number(first > second)
}

async function planOf(
  host: Host,
  { id, manifest }: FoundManifest,
  { connection, own }: { readonly connection: string; readonly own: readonly ManifestMigration[] },
): Promise<{ readonly migrations: readonly ListedHostMigration[] } | { readonly problem: string }> {
  try {
    const isSystem = connection === 'System'
    const artifacts = isSystem ? [] : await loadArtifacts(host.system, { id }, manifest.artifacts)
    const plugins = await loadReleasePlugins(host, { manifest: isSystem ? { plugins: [] } : manifest, artifacts })
    const migrations: ListedHostMigration[] = []
    await inspectDatabases({ host, plugins, release: { manifest } }, [connection], async (_name, database) => {
      const { applied, pending, edited, unknown } = await planMigrations(database, own)
      const times = new Map(applied.map(({ name, applied_at: at }) => [name, at]))
      const stateOf = (name: string) => (edited.includes(name) ? 'edited' : 'applied')
      migrations.push(
        ...own.map((one) => describe(one, pending.includes(one) ? 'pending' : stateOf(one.name), times.get(one.name))),
        ...unknown.map((name): ListedHostMigration => {
          return { connection, name, isDeclared: false, breaking: [], state: 'unknown', appliedAt: times.get(name) }
        }),
      )
    })
    return { migrations }
  } catch {
    return { problem: 'it cannot be opened' } // a test of the connection says why, to those who may see it
  }
}

function describe(
  { connection, name, declared }: ManifestMigration,
  state: ListedHostMigration['state'],
  appliedAt?: string,
): ListedHostMigration {
  const breaking = declared?.breaking ?? []
  return { connection, name, isDeclared: declared !== undefined, breaking, state, appliedAt }
}
