import type { Builder } from '../build/index.ts'
import { hasErrors, messageOf, type Diagnostic, type Variables } from '../kit/index.ts'
import { activateRelease, loadActiveRelease, pruneDevelopmentReleases, type BuiltRelease } from '../release/index.ts'
import type { WaypostServer } from '../server/index.ts'
import { makeLock } from '../store/index.ts'
import type { Project } from './find-project.ts'
import { buildProject } from './load-project.ts'
import { migrateConnections, type MigrationReport } from './migrate.ts'

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
  /** The first public GET without parameters. */
  readonly tryPath: string | undefined
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
  let served: string | undefined

  async function serve(release: BuiltRelease): Promise<string> {
    const { id, activated } = await activateRelease(server.host.system, release, { by: 'dev' })
    if (id === served) return id
    const stored = await loadActiveRelease(server.host.system)
    if (stored !== undefined) await server.serveRelease(stored, release.artifacts)
    served = id
    if (activated) await pruneDevelopmentReleases(server.host.system)
    return id
  }

  return async () => {
    try {
      const { release, diagnostics, plugins } = await buildProject(project, builder, variables)
      if (release === undefined || hasErrors(diagnostics)) {
        return { diagnostics, refused: true, state: JSON.stringify(diagnostics) }
      }
      const { host } = server
      const migration = await makeLock(host.system.database)('migrate', () =>
        migrateConnections({ host, release, plugins, folder: project.root }),
      )
      // The types of the project name the tables of each connection.
      if (migration.written.length > 0) await buildProject(project, builder, variables)
      const state = `${await serve(release)} ${JSON.stringify(diagnostics)}`
      const { scopes } = release.manifest
      return { diagnostics, migration, scopes: Object.keys(scopes), tryPath: findTryPath(release), state }
    } catch (error) {
      return { diagnostics: [], refused: true, error, state: messageOf(error) }
    }
  }
}

function findTryPath({ manifest }: BuiltRelease): string | undefined {
  const open = manifest.routes.find(
    ({ path, methods }) => !path.includes(':') && methods.some((one) => one.method === 'GET' && one.public),
  )
  return open?.path
}
