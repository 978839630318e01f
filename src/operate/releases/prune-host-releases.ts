import { pruneReleases, releasesKept, type PrunedReleases } from '../../release/index.ts'
import { loadTerms, type Host } from '../../host/index.ts'

export interface PruneHostRequest {
  /** Keep so many of the newest and no older ones, whatever the setting `keep` says. */
  readonly keep?: number | undefined
  readonly dryRun?: boolean
}

/** Deletes releases as servers do each hour: those that ended longer ago than the setting `keep` says. */
export async function pruneHostReleases(
  host: Host,
  { keep, dryRun = false }: PruneHostRequest,
): Promise<PrunedReleases> {
  if (keep !== undefined) return pruneReleases(host.system, { keepNewest: keep, keepMs: 0, dryRun })
  const { settings } = await loadTerms(host.system, host.variables)
  return pruneReleases(host.system, { keepNewest: releasesKept, keepMs: settings.keep.releases, dryRun })
}
