import { hideSecretsInUrl, hideTokens } from '../../kit/index.ts'
import type { RequestReport } from '../../runtime/index.ts'

export interface TrafficEntry extends RequestReport {
  /** Increases with each request. */
  readonly number: number
  /** Milliseconds since 1970. */
  readonly at: number
}

/** The last requests to the server of `dev`, in memory. */
export interface TrafficLog {
  add(report: RequestReport, at: number): void
  /** Returns the requests after a number, oldest first; those that were dropped meanwhile are left out. */
  list(after: number): readonly TrafficEntry[]
}

const maxEntries = 500
const maxText = 2048

export function makeTrafficLog(): TrafficLog {
  let entries: TrafficEntry[] = []
  let number = 0
  return {
    add(report, at) {
      number += 1
      entries.push({
        ...report,
        path: hideSecretsInUrl(report.path),
        reason: report.reason === undefined ? undefined : hideTokens(report.reason.slice(0, maxText)),
        number,
        at,
      })
      if (entries.length > 2 * maxEntries) entries = entries.slice(-maxEntries)
    },
    list: (after) => entries.slice(-maxEntries).filter((one) => one.number > after),
  }
}
