import { formatDuration } from '../../kit/index.ts'
import type { StoredRelease } from '../../release/index.ts'
import type { SystemFacts } from '../../store/index.ts'
import {
  isClaimed,
  loadLedger,
  type Ledger,
  resolveCronjobs,
  type ResolvedCronjob,
  type Host,
} from '../../host/index.ts'
import { crontabLine, type Finding } from './finding.ts'

/** Schedulers check at least once a minute; a slot that is overdue by more has no scheduler. */
const maxDelayMs = 3 * 60_000

const check = 'cronjobs'

/** Checks that the cronjobs of the active release run and succeed. Returns nothing if it has none. */
export async function checkCronjobs(
  host: Host,
  { origin }: SystemFacts,
  release: StoredRelease | undefined,
): Promise<readonly Finding[]> {
  const cronjobs = release === undefined ? [] : [...resolveCronjobs(release, host.variables).values()]
  if (cronjobs.length === 0) return []
  const ledger = await loadLedger(host.system)
  const isDevelopment = origin === 'development'
  const notRunning = isDevelopment ? undefined : findNotRunning(cronjobs, ledger)
  if (notRunning !== undefined) {
    const next = 'Start a server with waypost serve --cron, or add this line to crontab:'
    return [{ check, ...notRunning, next, command: crontabLine(host.folder, 'cron:execute') }]
  }
  const names = cronjobs.map(({ name }) => name).join(', ')
  const message = isDevelopment
    ? `waypost dev runs cronjobs while it is running: ${names}`
    : `Cronjobs are running on schedule: ${names}`
  return [findFailing(cronjobs, ledger) ?? { check, state: 'ok', message }]
}

/** Finds cronjobs that no process runs. */
function findNotRunning(
  cronjobs: readonly ResolvedCronjob[],
  ledger: Ledger,
): Pick<Finding, 'state' | 'message'> | undefined {
  const late = cronjobs.flatMap((job) => {
    const lateBy = findDelay(job, ledger)
    return lateBy > maxDelayMs ? [`${job.name} is late by ${formatDuration(lateBy, Math.round)}`] : []
  })
  if (late.length > 0) return { state: 'fail', message: `No server runs cronjobs: ${late.join(', ')}` }
  const fresh = cronjobs.filter(({ name }) => !ledger.rows.has(name)).map(({ name }) => name)
  return fresh.length === 0 ? undefined : { state: 'warn', message: `No cronjob has run yet: ${fresh.join(', ')}` }
}

/** How long ago the first unclaimed slot was due. */
function findDelay({ name, timetable }: ResolvedCronjob, { rows, now }: Ledger): number {
  const row = rows.get(name)
  const due = row === undefined || isClaimed(row, now) ? undefined : timetable.next(row.slotAt)
  return due === undefined ? 0 : Math.max(0, now - due)
}

function findFailing(cronjobs: readonly ResolvedCronjob[], { rows }: Ledger): Finding | undefined {
  const failing = cronjobs.flatMap(({ name }) => {
    const failures = rows.get(name)?.failures ?? 0
    return failures === 0 ? [] : [{ name, text: `${name} ${failures === 1 ? 'once' : `${failures} times in a row`}` }]
  })
  const [first] = failing
  if (first === undefined) return undefined
  return {
    check,
    state: 'warn',
    message: `Cronjobs failing: ${failing.map(({ text }) => text).join(', ')}`,
    next: 'Run it to see the cause:',
    command: `waypost cron:execute ${first.name}`,
  }
}
