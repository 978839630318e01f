import { openBuilder } from '../build/index.ts'
import { formatDiagnostics, readEnvironment, version, type Variables } from '../kit/index.ts'
import { activateRelease, loadActiveRelease, type Artifact, type StoredRelease } from '../release/index.ts'
import type { Host } from '../host/index.ts'
import { findProject } from './find-project.ts'
import { assertBuilt, buildProject } from './load-project.ts'
import { migrateConnections } from './migrate.ts'

/** A project that was built for its tests. */
export interface TestProject {
  readonly variables: Variables
  /** Migrates a System and makes the project its active release. */
  install(host: Host): Promise<{ stored: StoredRelease; artifacts: readonly Artifact[] }>
}

/** Builds a project for tests. @throws WP_PROJECT_BROKEN, whose message lists the problems */
export async function openTestProject(folder: string, given: Variables = {}): Promise<TestProject> {
  const project = findProject(folder)
  const variables = { ...readEnvironment(folder), ...given }
  const builder = openBuilder({ ...project, version })
  try {
    const built = await buildProject(project, builder, variables)
    const release = assertBuilt(built, (diagnostics) =>
      process.stderr.write(formatDiagnostics(diagnostics, { colour: false, width: 100 })),
    )
    return {
      variables,
      async install(host) {
        await migrateConnections({ host, release, plugins: built.plugins, folder, keepTables: true })
        await activateRelease(host.system, release, { by: 'test' })
        const stored = (await loadActiveRelease(host.system))!
        return { stored, artifacts: release.artifacts }
      },
    }
  } finally {
    await builder.close()
  }
}
