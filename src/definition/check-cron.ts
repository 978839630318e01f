import { isTimezone, parseCronjobTimeout, parseDuration, parseSchedule } from '../kit/index.ts'
import type { Report } from './report.ts'

/** What is wrong with a crontab schedule; undefined if nothing is. */
export function checkSchedule(schedule: string): string | undefined {
  const parsed = parseSchedule(schedule)
  return 'problem' in parsed ? parsed.problem : undefined
}

/** What is wrong with the name of a time zone; undefined if nothing is. */
export function checkTimezone(
  name: string,
  report: Report,
): { readonly problem: string; readonly hint?: string | undefined } | undefined {
  if (isTimezone(name)) return undefined
  const near = report.findNearest(name, Intl.supportedValuesOf('timeZone'))
  const hint = near === undefined ? 'Use a name such as UTC or Europe/Berlin' : `Did you mean "${near}"?`
  return { problem: `Unknown time zone "${name}"`, hint }
}

/** What is wrong with how long a cronjob may run; undefined if nothing is. */
export function checkCronjobTimeout(text: string): string | undefined {
  if (parseCronjobTimeout(text) !== undefined) return undefined
  const expected = parseDuration(text) === undefined ? 'a duration such as 30s or 5m' : 'more than 0 and at most 24h'
  return `"timeout" must be ${expected}, not "${text}"`
}
