import { measureEvents } from '../../events/index.ts'
import { defaultSettings, formatDuration } from '../../kit/index.ts'
import type { StoredRelease } from '../../release/index.ts'
import { type SystemFacts, loadDatabaseTime } from '../../store/index.ts'
import type { Host } from '../../host/index.ts'
import { crontabLine, unknownToCron, type Finding } from './finding.ts'

/** Cron starts it each minute; whoever was not seen for so long is not started. */
export const lateMs = 3 * 60_000

const check = 'events'

/** Whether events are delivered: when `event:execute` was last at work, and what waits. */
export async function checkEvents(
  host: Host,
  { last_execute: last, origin }: SystemFacts,
  release: StoredRelease | undefined,
): Promise<Finding> {
  const catalog = release?.manifest.events ?? {}
  const now = await loadDatabaseTime(host.system)
  // The settings of the release may need variables that this host lacks. They only say how long a breaker can be open.
  const { deliveries } = await measureEvents(host.system, { catalog, settings: defaultSettings })
  const waiting = deliveries.due
  const agoMs = last === undefined ? undefined : Math.abs(now - Number(last))
  const ran = agoMs === undefined ? 'never ran' : `last ran ${formatDuration(agoMs, Math.round)} ago`
  const message = `event:execute ${ran}, ${describeWaiting(waiting)}`
  if (agoMs !== undefined && agoMs < lateMs) return { check, state: 'ok', message }
  if (origin === 'development') return checkDevelopment(waiting)
  if (waiting === 0 && Object.keys(catalog).length === 0) {
    return { check, state: 'ok', message: 'No events, and no deliveries waiting' }
  }
  return { check, state: waiting === 0 ? 'warn' : 'fail', message, ...adviseCron(host, release) }
}

function checkDevelopment(waiting: number): Finding {
  const message = `waypost dev delivers while it is running; ${describeWaiting(waiting)}`
  if (waiting === 0) return { check, state: 'ok', message }
  return { check, state: 'warn', message, next: 'To deliver without waypost dev:', command: 'waypost event:execute' }
}

export function describeWaiting(count: number): string {
  if (count === 0) return 'no deliveries waiting'
  return count === 1 ? '1 delivery waiting' : `${count} deliveries waiting`
}

function adviseCron(
  { folder, variables }: Host,
  release: StoredRelease | undefined,
): Pick<Finding, 'next' | 'command'> {
  const own = ['WAYPOST_SYSTEM_URL', 'WAYPOST_BASE_URL', 'WAYPOST_SECRET', 'WAYPOST_SYSTEM_DIRECT_URL']
  const missing = unknownToCron(folder, variables, [...own, ...Object.keys(release?.manifest.variables ?? {})])
  const put =
    missing.length === 0 ? '' : `Cron does not have the variables of this shell: put ${missing.join(', ')} into .env. `
  return {
    next: `${put}Add this line to crontab:`,
    command: crontabLine(folder, 'event:execute --watch --time-limit 55s'),
  }
}
