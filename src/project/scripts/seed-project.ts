import {
  inspectDatabases,
  loadMigrationModules,
  loadReleasePlugins,
  nameTarget,
  openHost,
  refreshVariables,
  type Host,
} from '../../host/index.ts'
import { markActionLogger, type Diagnostic, type Variables } from '../../kit/index.ts'
import type { PluginSet } from '../../plugin/index.ts'
import { wasDeployed } from '../../release/index.ts'
import { loadSeeds, makeLock, planMigrations } from '../../store/index.ts'
import type { DevConsole } from '../dev-console.ts'
import { makeDevLogger } from '../dev-logger.ts'
import { errors } from '../errors.ts'
import { findProject } from '../find-project.ts'
import { buildScripts, type BuiltScripts } from './build-scripts.ts'
import { findSeed, listSeeds, type SeedFile } from './find-seeds.ts'
import { runSeeds, type RanSeed } from './run-seeds.ts'

export interface SeedOptions {
  readonly folder: string
  readonly variables: Variables
  /** Run only this seed. */
  readonly name?: string | undefined
  /** Also run seeds that have run on this System. */
  readonly isAgain: boolean
  readonly sendsEvents: boolean
  readonly signal?: AbortSignal | undefined
  readonly console: Pick<DevConsole, 'logged'>
  /** Called with the address of System before anything changes. */
  onTarget?(target: string): void
  /** Asks before the seeds run on a System that serves or has served a deployment. */
  confirmDeployed(target: string): Promise<boolean>
  onRan?(seed: RanSeed): void
  onDiagnostics?(diagnostics: readonly Diagnostic[]): void
}

export interface SeedReport {
  readonly ran: readonly RanSeed[]
  /** The names of seeds that had run before. */
  readonly skipped: readonly string[]
}

/**
 * Runs the seeds of a project that have not run on its System yet.
 * @returns undefined if it was not confirmed
 * @throws WP_PROJECT_SEED_NONE, WP_PROJECT_SEED_UNKNOWN, WP_PROJECT_SEED_PENDING, WP_PROJECT_SEED_FAILED,
 * WP_PROJECT_BROKEN
 */
export async function seedProject(options: SeedOptions): Promise<SeedReport | undefined> {
  const { folder, variables, name, isAgain, signal } = options
  findProject(folder)
  const all = listSeeds(folder)
  if (all.length === 0) throw errors.WP_PROJECT_SEED_NONE()
  const wanted = name === undefined ? all : [findSeed(all, name)]
  const host = await openHost({ folder, variables })
  try {
    options.onTarget?.(nameTarget(host))
    const pending = async () => {
      const known = isAgain ? new Set<string>() : await loadSeeds(host.system)
      return wanted.filter((seed) => !known.has(seed.name))
    }
    const skippedOf = (seeds: readonly SeedFile[]) =>
      wanted.filter((seed) => !seeds.includes(seed)).map((seed) => seed.name)
    const seeds = await pending()
    if (seeds.length === 0) return { ran: [], skipped: skippedOf(seeds) }
    if ((await wasDeployed(host.system)) && !(await options.confirmDeployed(nameTarget(host)))) return undefined
    await refreshVariables(host)
    const built = await buildScripts({ ...options, variables: host.variables, files: seeds.map(({ file }) => file) })
    const plugins = await loadReleasePlugins(host, built.release)
    await assertMigrated(host, built, plugins)
    return await makeLock(host.system.database)(
      'migrate',
      async () => {
        const now = await pending() // another process may have run some meanwhile
        const log = markActionLogger(makeDevLogger(host, options.console))
        return {
          ran: await runSeeds({ ...options, ...built, host, plugins, log, seeds: now }),
          skipped: skippedOf(now),
        }
      },
      { signal },
    )
  } finally {
    await host.close()
  }
}

/** @throws WP_PROJECT_SEED_PENDING */
async function assertMigrated(host: Host, { release }: BuiltScripts, plugins: PluginSet): Promise<void> {
  const modules = await loadMigrationModules(release, host.imports)
  const missing: string[] = []
  await inspectDatabases({ host, release, plugins }, [...modules.keys()], async (connection, database) => {
    const { pending } = await planMigrations(database, modules.get(connection) ?? [])
    missing.push(...pending.map(({ name }) => `${connection}/${name}`))
  })
  if (missing.length > 0) throw errors.WP_PROJECT_SEED_PENDING({ names: missing.join(', ') })
}
