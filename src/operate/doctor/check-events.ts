import { countDueRuns, measureEvents } from '../../events/index.ts'
import { defaultSettings, formatDuration } from '../../kit/index.ts'
import type { StoredRelease } from '../../release/index.ts'
import { type SystemFacts, loadDatabaseTime } from '../../store/index.ts'
import type { Host } from '../../host/index.ts'
import { crontabLine, findMissingForCron, type Finding } from './finding.ts'

/** Cron starts it every minute; if it has not run for this long, it is not being started. */
export const maxSilenceMs = 3 * 60_000

const check = 'events'

/** Checks that events are delivered: when `event:execute` last ran, and what is waiting. */
export async function checkEvents(
  host: Host,
  { last_execute: last, origin, deliveries_held: held }: SystemFacts,
  release: StoredRelease | undefined,
): Promise<Finding> {
  const catalog = release?.manifest.events ?? {}
  const now = await loadDatabaseTime(host.system)
  // Default settings suffice, because they only define how long a breaker can be open, and the release's settings may
  // need variables that this host lacks.
  const { deliveries } = await measureEvents(host.system, { catalog, settings: defaultSettings })
  const runs = await countDueRuns(host.system, Object.keys(release?.manifest.listeners ?? {}))
  const waiting = deliveries.due + runs
  const described = `${describeWaiting(deliveries.due)}${describeRuns(runs)}`
  if (held !== undefined) {
    const since = new Date(Number(held)).toISOString()
    const message = `Nothing is posted: deliveries have been held since ${since}; ${describeWaiting(deliveries.held)}`
    return {
      check,
      state: 'warn',
      message,
      next: 'To send them, or to cancel them with --cancel:',
      command: 'waypost event:resume',
    }
  }
  const agoMs = last === undefined ? undefined : Math.abs(now - Number(last))
  const ran = agoMs === undefined ? 'never ran' : `last ran ${formatDuration(agoMs, Math.round)} ago`
  const message = `event:execute ${ran}, ${described}`
  if (agoMs !== undefined && agoMs < maxSilenceMs) return { check, state: 'ok', message }
  if (origin === 'development') return checkDevelopment(waiting, described)
  if (waiting === 0 && Object.keys(catalog).length === 0) {
    return { check, state: 'ok', message: 'No events, and no deliveries waiting' }
  }
  return { check, state: waiting === 0 ? 'warn' : 'fail', message, ...adviseCron(host, release) }
}

function checkDevelopment(waiting: number, described: string): Finding {
  const message = `waypost dev delivers while it is running; ${described}`
  if (waiting === 0) return { check, state: 'ok', message }
  return { check, state: 'warn', message, next: 'To deliver without waypost dev:', command: 'waypost event:execute' }
}

export function describeWaiting(count: number): string {
  if (count === 0) return 'no deliveries waiting'
  return count === 1 ? '1 delivery waiting' : `${count} deliveries waiting`
}

function describeRuns(count: number): string {
  if (count === 0) return ''
  return count === 1 ? ', 1 run of a listener waiting' : `, ${count} runs of listeners waiting`
}

function adviseCron(
  { folder, environment }: Host,
  release: StoredRelease | undefined,
): Pick<Finding, 'next' | 'command'> {
  const own = ['WAYPOST_SYSTEM_URL', 'WAYPOST_BASE_URL', 'WAYPOST_SECRET', 'WAYPOST_SYSTEM_DIRECT_URL']
  const missing = findMissingForCron(folder, environment, [...own, ...Object.keys(release?.manifest.variables ?? {})])
  const put =
    missing.length === 0 ? '' : `Cron does not have the variables of this shell: put ${missing.join(', ')} into .env. `
  return {
    next: `${put}Add this line to crontab:`,
    command: crontabLine(folder, 'event:execute --watch --time-limit 55s'),
  }
}
