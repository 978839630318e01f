import { systemClock, type Clock } from '../../kit/index.ts'
import { loadActiveRelease, type StoredRelease } from '../../release/index.ts'
import { loadFacts } from '../../store/index.ts'
import { type Host, listServers } from '../../host/index.ts'
import { checkBaseUrl } from './check-base-url.ts'
import { checkClock } from './check-clock.ts'
import { checkCronjobs } from './check-cronjobs.ts'
import { checkDatabases } from './check-databases.ts'
import { checkEvents } from './check-events.ts'
import { checkRelease, checkVariables } from './check-release.ts'
import { checkSecret } from './check-secret.ts'
import { failure, runCheck, type Finding } from './finding.ts'

/** Checks a host and its migrated System. Changes nothing. */
export async function checkHost(host: Host, clock: Clock = systemClock): Promise<readonly Finding[]> {
  const facts = await loadFacts(host.system)
  const servers = await listServers(host)
  const { release, finding } = await loadRelease(host)
  return [
    await runCheck('secret', () => checkSecret(host, facts)),
    await runCheck('base-url', () => checkBaseUrl(host, facts, servers)),
    await runCheck('clock', () => checkClock(host.system, clock)),
    finding ?? checkRelease(release, servers, facts),
    ...(release === undefined ? [] : checkVariables(release, host.variables)),
    ...(release === undefined ? [] : await runChecks('database', () => checkDatabases(host, release))),
    await runCheck('events', () => checkEvents(host, facts, release)),
    ...(await runChecks('cronjobs', () => checkCronjobs(host, facts, release))),
  ]
}

async function runChecks(check: string, work: () => Promise<readonly Finding[]>): Promise<readonly Finding[]> {
  try {
    return await work()
  } catch (error) {
    return [failure(check, error)]
  }
}

/** Loads the active release, or the reason why it cannot be read. */
async function loadRelease({ system }: Host): Promise<{ release?: StoredRelease | undefined; finding?: Finding }> {
  let release: StoredRelease | undefined
  const finding = await runCheck('release', async () => {
    release = await loadActiveRelease(system)
    return { check: 'release', state: 'ok', message: '' }
  })
  return finding.state === 'fail' ? { finding } : { release }
}
