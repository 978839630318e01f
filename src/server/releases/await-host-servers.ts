import { awaitServers, listLiveServers, type AwaitServersOptions, type ServerOutcome } from '../../release/index.ts'
import type { Host } from '../host.ts'

/** Waits until every living server of this System serves a release or says why it does not. */
export function awaitHostServers(
  { system, clock }: Host,
  options: Pick<AwaitServersOptions, 'release' | 'limitMs' | 'signal'>,
): Promise<readonly ServerOutcome[]> {
  return awaitServers({ ...options, clock, list: () => listLiveServers(system) })
}
