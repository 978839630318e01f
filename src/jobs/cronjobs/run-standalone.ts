import { makeConnectionRegistry } from '../../connection/index.ts'
import { makeConfigPreparer } from '../../plugin/index.ts'
import { loadArtifacts, type StoredRelease } from '../../release/index.ts'
import type { Logger } from '../../runtime/index.ts'
import {
  leaseMs,
  loadReleasePlugins,
  logClosed,
  makeHostServices,
  makeLogger,
  readLogLevel,
  systemConnection,
  termsOf,
  type Host,
  type Ledger,
  type LoadPlugins,
} from '../../host/index.ts'
import { openCronjobs, type CronjobSet } from './open-cronjobs.ts'
import type { CronjobReport } from './run-slot.ts'
import { CronRunner } from './runner.ts'

export interface Slot {
  readonly name: string
  readonly slot: number
}

export interface SlotsToRun {
  readonly release: StoredRelease
  readonly ledger: Ledger
  readonly slots: readonly Slot[]
}

export interface StandaloneOptions {
  /** The logger of actions; by default stderr from the level `warn`. */
  readonly logger?: Logger | undefined
  /** Replaces the loading of plugins. */
  readonly loadPlugins?: LoadPlugins | undefined
  /** When it aborts, nothing more starts, and current runs have 10 s to finish. */
  readonly signal?: AbortSignal | undefined
  /** Called when a run has begun. */
  onStarted?(): void
}

/** Runs slots in a process that does nothing else, with its own connections. */
export async function runStandalone(
  host: Host,
  { release, ledger, slots }: SlotsToRun,
  { signal, loadPlugins, onStarted, logger: given }: StandaloneOptions,
): Promise<CronjobReport[]> {
  const logger = given ?? (await openLog(host))
  const reports: CronjobReport[] = []
  const onRan = (report: CronjobReport) => void reports.push(report)
  const runner = new CronRunner({
    system: host.system,
    clock: host.clock,
    logger,
    secrets: host.logSecrets,
    leaseMs,
    onRan,
  })
  const stop = () => void runner.stop()
  const { set, close } = await openStandalone(host, release, { logger, loadPlugins })
  try {
    signal?.addEventListener('abort', stop)
    for (const { name, slot } of slots) {
      if (signal?.aborted) break
      if (await runner.start(set, { ledger, name, slot })) onStarted?.()
    }
    await runner.idle()
  } finally {
    signal?.removeEventListener('abort', stop)
    await close()
  }
  return reports
}

function openLog({ variables, logSecrets: secrets }: Host): Promise<Logger> {
  return makeLogger(readLogLevel(variables, 'warn'), { file: 'stderr', secrets })
}

/** Opens the cronjobs of a release with their own connections. */
async function openStandalone(
  host: Host,
  release: StoredRelease,
  {
    logger: log,
    loadPlugins = (wanted) => loadReleasePlugins(host, wanted),
  }: Omit<StandaloneOptions, 'signal'> & { readonly logger: Logger },
): Promise<{ set: CronjobSet; close(): Promise<void> }> {
  const { variables, folder, system } = host
  const { settings } = termsOf(release, variables)
  const services = makeHostServices(host, log, () => settings.delivery_allow)
  const builtIn = { System: systemConnection(system) }
  const registry = makeConnectionRegistry({ variables, folder, log, services, builtIn })
  const prepareConfig = makeConfigPreparer(variables)
  try {
    const artifacts = await loadArtifacts(system, release, release.manifest.artifacts)
    const set = await openCronjobs(
      {
        host,
        loadPlugins,
        services,
        prepareConfig,
        registry,
        isDevelopment: false,
        // Timers end with this process.
        onClosed: ({ errors }) => logClosed({ left: [], errors }, log),
      },
      { release, artifacts },
    )
    const close = async () => {
      await set.close()
      await registry.close()
    }
    return { set, close }
  } catch (error) {
    await registry.close()
    throw error
  }
}
