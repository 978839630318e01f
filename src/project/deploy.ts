import { checkModules, openBuilder } from '../build/index.ts'
import { hasErrors, version, type Diagnostic, type Variables } from '../kit/index.ts'
import {
  activateRelease,
  compareManifests,
  loadActiveRelease,
  predictId,
  type ReleaseChange,
} from '../release/index.ts'
import { artifactLoader } from '../runtime/index.ts'
import { checkIdentity, listServers, openHost, openIdentity } from '../server/index.ts'
import { storeFact } from '../store/index.ts'
import { errors } from './errors.ts'
import { findProject } from './find-project.ts'
import { assertBuilt, buildProject } from './load-project.ts'
import { pendingMigrations } from './migrate.ts'

export interface DeployOptions {
  readonly folder: string
  readonly variables: Variables
  readonly by: string
  readonly message?: string | undefined
  readonly against?: string | undefined
  /** Called with System's address before anything else happens. */
  onTarget?(target: string): void
  onDiagnostics?(diagnostics: readonly Diagnostic[]): void
  /** Called with what would change before anything does. @returns whether to go on */
  confirm?(plan: DeployPlan): Promise<boolean>
}

export interface DeployPlan {
  readonly active: { readonly id: string; readonly activatedAt: number; readonly activatedBy: string } | undefined
  /** The id that the release will have. */
  readonly id: string
  readonly changes: readonly ReleaseChange[]
}

export interface Deployment extends DeployPlan {
  readonly activated: boolean
  readonly servers: readonly { name: string; release: string | null; state: string; error: string | null }[]
}

/**
 * Builds the project and makes it the active release of System: all or nothing. The same again does nothing.
 * @returns undefined when it was not confirmed
 * @throws WP_PROJECT_BROKEN, WP_PROJECT_MIGRATIONS_PENDING, WP_RELEASE_SUPERSEDED
 */
export async function deployProject(options: DeployOptions): Promise<Deployment | undefined> {
  const project = findProject(options.folder)
  const builder = openBuilder({ ...project, version })
  try {
    // The target first: a pipeline that reaches nothing should not wait for a build to hear of it.
    const host = await openHost(options)
    try {
      options.onTarget?.(host.system.target)
      await checkIdentity(host)
      const built = await buildProject(project, builder)
      const release = assertBuilt(built, (diagnostics) => options.onDiagnostics?.(diagnostics))
      const broken = await checkModules(release, { loader: artifactLoader })
      if (hasErrors(broken)) {
        options.onDiagnostics?.(broken)
        throw errors.WP_PROJECT_BROKEN({ count: broken.length === 1 ? '1 error' : `${broken.length} errors` })
      }
      const { system } = host
      const before = await loadActiveRelease(system)
      const plan: DeployPlan = {
        active: before,
        id: await predictId(system, release),
        changes: compareManifests(before?.manifest, release.manifest),
      }
      const pending = await pendingMigrations({ host, release, plugins: built.plugins })
      if (pending.length > 0) throw errors.WP_PROJECT_MIGRATIONS_PENDING({ names: pending.join(', ') })
      if (plan.id !== before?.id && options.confirm !== undefined && !(await options.confirm(plan))) return undefined
      await openIdentity(host)
      await storeFact(system, 'origin', 'production')
      const { id, activated } = await activateRelease(system, release, {
        by: options.by,
        message: options.message,
        against: options.against ?? before?.id,
      })
      return { ...plan, id, activated, servers: await listServers(host) }
    } finally {
      await host.close()
    }
  } finally {
    await builder.close()
  }
}
