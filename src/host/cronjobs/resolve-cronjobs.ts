import {
  isTimezone,
  parseCronjobTimeout,
  parseSchedule,
  resolveReferences,
  type Variables,
  shortId,
} from '../../kit/index.ts'
import { type StoredRelease } from '../../release/index.ts'
import { errors } from '../errors.ts'
import { makeTimetable, type Timetable } from './timetable.ts'

/** When a cronjob of a release is due, and how long it may run. */
export interface ResolvedCronjob {
  readonly name: string
  readonly schedule: string
  readonly timezone: string
  readonly timeoutMs: number
  readonly timetable: Timetable
}

export type ResolvedCronjobs = ReadonlyMap<string, ResolvedCronjob>

/**
 * Parses the cronjobs of a release with the variables of this host.
 * @throws WP_SERVER_VARIABLE, WP_SERVER_CRONJOB
 */
export function resolveCronjobs(
  { id, manifest }: Pick<StoredRelease, 'id' | 'manifest'>,
  variables: Variables,
): ResolvedCronjobs {
  const resolved = Object.entries(manifest.cronjobs).map(([name, cronjob]) => {
    const { schedule, timezone = 'UTC', timeout } = cronjob
    const { value, missing } = resolveReferences({ schedule, timezone, timeout }, variables)
    if (missing.length > 0) {
      throw errors.WP_SERVER_VARIABLE({ variables: missing.join(', '), release: shortId(id) })
    }
    const found = resolveCronjob(name, value)
    if ('problem' in found) throw errors.WP_SERVER_CRONJOB({ name, release: shortId(id), reason: found.problem })
    return [name, found] as const
  })
  return new Map(resolved)
}

interface CronjobConfig {
  readonly schedule: string
  readonly timezone: string
  readonly timeout: string | undefined
}

function resolveCronjob(
  name: string,
  { schedule, timezone, timeout }: CronjobConfig,
): ResolvedCronjob | { readonly problem: string } {
  const parsed = parseSchedule(schedule)
  if ('problem' in parsed) return parsed
  if (!isTimezone(timezone)) return { problem: `unknown time zone "${timezone}"` }
  const timeoutMs = parseCronjobTimeout(timeout)
  if (timeoutMs === undefined) return { problem: `"${timeout}" is not a duration of at most 24h` }
  return { name, schedule, timezone, timeoutMs, timetable: makeTimetable(parsed.schedule, timezone) }
}
