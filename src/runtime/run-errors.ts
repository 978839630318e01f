import { errors } from './errors.ts'

/** Ends the run of a listener for good. */
export class RunDiscarded extends Error {
  constructor(reason: string) {
    super(reason)
    this.name = 'RunDiscarded'
  }
}

/** Puts off the run of a listener. */
export class RunPostponed extends Error {
  /** Milliseconds since 1970. */
  readonly until: number

  /** @throws WP_RUNTIME_RETRY_AT */
  constructor(date: Date) {
    const until = date instanceof Date ? date.getTime() : Number.NaN
    if (Number.isNaN(until)) throw errors.WP_RUNTIME_RETRY_AT({ value: String(date) })
    super(`Put off until ${new Date(until).toISOString()}`)
    this.name = 'RunPostponed'
    this.until = until
  }
}
