import { openBuilder } from '../build/index.ts'
import { formatDiagnostics, hasErrors, version } from '../kit/index.ts'
import { activateRelease, loadActiveRelease, type Artifact, type StoredRelease } from '../release/index.ts'
import { loadReleasePlugins, type Host } from '../host/index.ts'
import { findProject } from './find-project.ts'
import { isolateConnections, type Isolation } from './isolate-connections.ts'
import { assertBuilt, buildProject } from './load-project.ts'
import { migrateConnections, type LoadedRelease } from './migrate.ts'

/** A project built for its tests. */
export interface TestProject extends LoadedRelease {
  /**
   * Returns the same project with its own databases.
   * @throws the errors of `isolateConnections`
   */
  isolate(isolation: Omit<Isolation, 'folder'>): Promise<TestProject>
  /** Migrates a System and activates the project on it. */
  install(host: Host): Promise<{ stored: StoredRelease; artifacts: readonly Artifact[] }>
}

/**
 * Builds a project for tests.
 * @throws WP_PROJECT_BROKEN, whose message lists the problems
 */
export async function openTestProject(folder: string): Promise<TestProject> {
  const project = findProject(folder)
  const builder = openBuilder({ ...project, version })
  try {
    // Without variables, because those of a replaced connection need no value.
    const built = await buildProject(project, builder)
    const release = assertBuilt(built, (diagnostics) => {
      // Each test file builds the project, so warnings are left to `validate`.
      if (!hasErrors(diagnostics)) return
      process.stderr.write(`${formatDiagnostics(diagnostics, { colour: false, width: 100 })}\n`)
    })
    const plugins = await loadReleasePlugins({ folder }, release)
    return makeTestProject(folder, { release, plugins })
  } finally {
    await builder.close()
  }
}

function makeTestProject(folder: string, built: LoadedRelease): TestProject {
  const { release } = built
  return {
    ...built,
    isolate: async (isolation) => makeTestProject(folder, await isolateConnections(built, { ...isolation, folder })),
    async install(host) {
      await migrateConnections({ ...built, host, folder, keepTables: true })
      await activateRelease(host.system, release, { by: 'test' })
      const stored = (await loadActiveRelease(host.system))!
      return { stored, artifacts: release.artifacts }
    },
  }
}
