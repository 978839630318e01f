import type { Builder } from '../build/index.ts'
import { hasErrors, messageOf, type Diagnostic, type Variables } from '../kit/index.ts'
import type { PluginSet } from '../plugin/index.ts'
import { activateRelease, predictId, pruneDevelopmentReleases, type BuiltRelease } from '../release/index.ts'
import type { WaypostServer } from '../server/index.ts'
import { makeLock } from '../store/index.ts'
import type { Project } from './find-project.ts'
import { buildProject } from './load-project.ts'
import { migrateConnections, type MigrationReport } from './migrate.ts'
import { suggestRequests, type SuggestedRequest } from './suggest-requests.ts'

export interface TakeOverOptions {
  readonly project: Project
  readonly variables: Variables
  readonly builder: Builder
  readonly server: WaypostServer
}

/** What came of one look at the files. */
export type TakenOver = Served | Refused

/** The files have no error, and what they say is served. */
export interface Served {
  readonly diagnostics: readonly Diagnostic[]
  readonly migration: MigrationReport
  /** Every scope that the project names. */
  readonly scopes: readonly string[]
  readonly suggestions: readonly SuggestedRequest[]
  /** The same state gives the same text. */
  readonly state: string
}

export interface Refused {
  readonly diagnostics: readonly Diagnostic[]
  readonly refused: true
  readonly error?: unknown
  readonly state: string
}

/** Makes the way to take over what the files hold now: built, migrated, activated and served, unless it has an error. */
export function makeTakeOver(options: TakeOverOptions): () => Promise<TakenOver> {
  const { project, variables, builder, server } = options
  const { system, clock } = server.host
  let served: string | undefined
  let migrated: string | undefined

  /** The next request sees a save before the database does. */
  async function serve(release: BuiltRelease): Promise<string> {
    const id = await predictId(system, release)
    if (id === served) return id
    const { manifest, artifacts } = release
    await server.serveRelease({ id, manifest, activatedAt: clock.now(), activatedBy: 'dev' }, artifacts)
    served = id
    const { activated } = await activateRelease(system, release, { by: 'dev' })
    if (activated) await pruneDevelopmentReleases(system)
    return id
  }

  /** Looks at the databases only when a migration came, went or was edited. */
  async function migrate(release: BuiltRelease, plugins: PluginSet): Promise<MigrationReport> {
    const wanted = JSON.stringify(release.manifest.migrations)
    if (wanted === migrated) return { applied: [], written: [] }
    const report = await makeLock(system.database)('migrate', () =>
      migrateConnections({ host: server.host, release, plugins, folder: project.root }),
    )
    // The types of the project name the tables of each connection.
    if (report.written.length > 0) await buildProject(project, builder, variables)
    migrated = wanted
    return report
  }

  return async () => {
    try {
      const { release, diagnostics, plugins } = await buildProject(project, builder, variables)
      if (release === undefined || hasErrors(diagnostics)) {
        return { diagnostics, refused: true, state: JSON.stringify(diagnostics) }
      }
      const migration = await migrate(release, plugins)
      const state = `${await serve(release)} ${JSON.stringify(diagnostics)}`
      const { manifest } = release
      const suggestions = suggestRequests(manifest)
      return { diagnostics, migration, scopes: Object.keys(manifest.scopes), suggestions, state }
    } catch (error) {
      return { diagnostics: [], refused: true, error, state: messageOf(error) }
    }
  }
}
