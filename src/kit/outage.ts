import { isWaypostError, messageOf } from './errors.ts'

/** Reports the first of many failures of repeated work, and its end, so that an outage of an hour is two lines. */
export interface Outage {
  /** Reports an error, unless one like it was reported since the last success. Errors of an external system are alike. */
  failed(error: unknown): void
  /** Reports that the work succeeds again, if it failed before. */
  succeeded(): void
}

export interface OutageReports {
  onFailed?: ((error: unknown) => void) | undefined
  onSucceeded?: (() => void) | undefined
}

export function watchOutage({ onFailed, onSucceeded }: OutageReports): Outage {
  const reported = new Set<string>()
  return {
    failed(error) {
      const reason = isWaypostError(error) && error.kind === 'external' ? 'external' : messageOf(error)
      if (reported.has(reason)) return
      reported.add(reason)
      onFailed?.(error)
    },
    succeeded() {
      if (reported.size === 0) return
      reported.clear()
      onSucceeded?.()
    },
  }
}
