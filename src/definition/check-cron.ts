import { isTimezone, parseCronjobTimeout, parseDuration, parseSchedule } from '../kit/index.ts'
import type { Report } from './report.ts'

/** Checks a crontab schedule; undefined if it is valid. */
export function checkSchedule(schedule: string): string | undefined {
  const parsed = parseSchedule(schedule)
  return 'problem' in parsed ? parsed.problem : undefined
}

/** Checks the name of a time zone; undefined if it is valid. */
export function checkTimezone(
  name: string,
  report: Report,
): { readonly problem: string; readonly hint?: string | undefined } | undefined {
  if (isTimezone(name)) return undefined
  const suggestion = report.findNearest(name, Intl.supportedValuesOf('timeZone'))
  const hint = suggestion === undefined ? 'Use a name such as UTC or Europe/Berlin' : `Did you mean "${suggestion}"?`
  return { problem: `Unknown time zone "${name}"`, hint }
}

/** Checks the time limit of a cronjob; undefined if it is valid. */
export function checkCronjobTimeout(text: string): string | undefined {
  if (parseCronjobTimeout(text) !== undefined) return undefined
  const expected = parseDuration(text) === undefined ? 'a duration such as 30s or 5m' : 'more than 0 and at most 24h'
  return `"timeout" must be ${expected}, not "${text}"`
}
