import type { ListenerTermsOfRuns } from '../../events/index.ts'
import type { ReleaseTerms } from '../../host/index.ts'

const defaultTimeoutMs = 30_000
const defaultConcurrency = 8

/** How long a run with `once` may take on SQLite, where its transaction keeps all others from writing. */
export const maxOnceSqliteMs = 2000

/** Returns the listeners of a release with their defaults. */
export function listenerTerms({ listeners }: Pick<ReleaseTerms, 'listeners'>): readonly ListenerTermsOfRuns[] {
  return Object.entries(listeners).map(([name, one]) => ({
    name,
    timeoutMs: one.timeoutMs ?? defaultTimeoutMs,
    retries: one.retries,
    concurrency: one.concurrency ?? defaultConcurrency,
    isExclusive: one.exclusive !== undefined,
    starts: one.starts,
    once: one.once === true,
  }))
}
