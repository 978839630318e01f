import { loadMigrationModules, loadReleasePlugins, inspectDatabases, type Host } from '../host/index.ts'
import { loadActiveRelease, loadArtifacts } from '../release/index.ts'
import { pendingSystemMigrations, planMigrations, systemMigrations, type MigrationPlan } from '../store/index.ts'
import { checkConnection, commandFor } from './check-connection.ts'
import {
  buildForMigration,
  describeHost,
  isProjectOf,
  openExistingHost,
  type LoadedRelease,
  type MigrateOptions,
} from './migrate.ts'

/** `edited`: applied with another text. `unknown`: applied, but not in the project, or in the active release. */
export type MigrationState = 'applied' | 'pending' | 'edited' | 'unknown'

export interface ListedMigration {
  /** `waypost` for Waypost's own migrations. */
  readonly connection: string
  readonly name: string
  readonly state: MigrationState
  /** ISO timestamp. */
  readonly applied_at?: string
  /** The command that accepts its text, if it was edited. */
  readonly accept?: string
  /** The command that reverts and reapplies it, which deletes the rows of its tables, if it was edited or its file is missing. */
  readonly redo?: string
}

export interface MigrationStatus {
  /** The address of System; undefined if it does not exist yet. */
  readonly target: string | undefined
  /** Whose migrations these are: those of the project, or of the active release. */
  readonly source: 'project' | 'release'
  readonly migrations: readonly ListedMigration[]
}

/**
 * Lists all migrations with their state: those of the project, and on a host without one those of the active release.
 * Changes nothing.
 */
export async function loadMigrationStatus(options: MigrateOptions): Promise<MigrationStatus> {
  const isProject = isProjectOf(options)
  const project = isProject ? await buildForMigration(options) : undefined
  const host = await openExistingHost(options)
  try {
    const pending = host === undefined ? systemMigrations : await pendingSystemMigrations(host.system)
    const listed: ListedMigration[] = systemMigrations.map((name) => {
      return { connection: 'waypost', name, state: pending.includes(name) ? 'pending' : 'applied' }
    })
    const isMigrated = pending.length === 0
    const built = project ?? (host !== undefined && isMigrated ? await loadActive(host) : undefined)
    if (built !== undefined)
      listed.push(...(await listReleaseMigrations(built, { ...options, host, isMigrated, isProject })))
    return { target: host?.system.target, source: isProject ? 'project' : 'release', migrations: listed }
  } finally {
    await host?.close()
  }
}

/** Before the first deployment there is none. */
async function loadActive(host: Host): Promise<LoadedRelease | undefined> {
  const active = await loadActiveRelease(host.system)
  if (active === undefined) return undefined
  const { id, manifest } = active
  const release = { manifest, artifacts: await loadArtifacts(host.system, { id }, manifest.artifacts) }
  return { release, plugins: await loadReleasePlugins(host, release) }
}

async function listReleaseMigrations(
  built: LoadedRelease,
  options: MigrateOptions & {
    readonly host: Host | undefined
    readonly isMigrated: boolean
    readonly isProject: boolean
  },
): Promise<readonly ListedMigration[]> {
  const { connection, host, isMigrated, isProject } = options
  const modules = await loadMigrationModules(built.release)
  if (connection !== undefined) checkConnection(connection, modules)
  const names = connection === undefined ? [...modules.keys()] : [connection]
  const listed: ListedMigration[] = []
  const target = await describeHost(options, { host, built, isMigrated })
  await inspectDatabases({ ...built, host: target }, names, async (name, database) => {
    // These commands change the files or run the code of a project.
    const commandOf = (command: string) => (isProject ? commandFor(command, name, modules) : undefined)
    listed.push(...listPlan({ connection: name, commandOf }, await planMigrations(database, modules.get(name) ?? [])))
  })
  return listed
}

/** Ordered by name. */
function listPlan(
  { connection, commandOf }: { readonly connection: string; commandOf(command: string): string | undefined },
  { applied, pending, edited, unknown }: MigrationPlan,
): ListedMigration[] {
  const ran = applied.map(({ name, applied_at }): ListedMigration => {
    const redo = commandOf('migrate:redo')
    const accept = commandOf(`migrate:accept ${name}`)
    if (edited.includes(name))
      return { connection, name, state: 'edited', applied_at, ...(accept && { accept }), ...(redo && { redo }) }
    if (unknown.includes(name)) return { connection, name, state: 'unknown', applied_at, ...(redo && { redo }) }
    return { connection, name, state: 'applied', applied_at }
  })
  const wait = pending.map(({ name }) => ({ connection, name, state: 'pending' as const }))
  return [...ran, ...wait].toSorted((a, b) => (a.name < b.name ? -1 : 1))
}
