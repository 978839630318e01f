import { openBuilder } from '../build/index.ts'
import { formatDiagnostics, hasErrors, version } from '../kit/index.ts'
import { activateRelease, loadActiveRelease, type Artifact, type StoredRelease } from '../release/index.ts'
import type { Host } from '../host/index.ts'
import { findProject } from './find-project.ts'
import { isolateConnections, type Isolation } from './isolate-connections.ts'
import { assertBuilt, buildProject } from './load-project.ts'
import { migrateConnections, type Built } from './migrate.ts'

/** A project that was built for its tests. */
export interface TestProject extends Built {
  /** The same project with databases of its own. @throws as `isolateConnections` */
  isolate(isolation: Omit<Isolation, 'folder'>): Promise<TestProject>
  /** Migrates a System and makes the project its active release. */
  install(host: Host): Promise<{ stored: StoredRelease; artifacts: readonly Artifact[] }>
}

/** Builds a project for tests. @throws WP_PROJECT_BROKEN, whose message lists the problems */
export async function openTestProject(folder: string): Promise<TestProject> {
  const project = findProject(folder)
  const builder = openBuilder({ ...project, version })
  try {
    // Without variables: those of a connection that a test replaces need no value.
    const built = await buildProject(project, builder)
    const release = assertBuilt(built, (diagnostics) => {
      // Each test file builds the project; warnings are the business of `validate`.
      if (!hasErrors(diagnostics)) return
      process.stderr.write(`${formatDiagnostics(diagnostics, { colour: false, width: 100 })}\n`)
    })
    return makeTestProject(folder, { release, plugins: built.plugins })
  } finally {
    await builder.close()
  }
}

function makeTestProject(folder: string, built: Built): TestProject {
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
