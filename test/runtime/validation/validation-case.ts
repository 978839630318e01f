import type { Sent } from '../../support/send.ts'

export interface ValidationCase {
  readonly what: string
  readonly sent: Sent
  readonly status: number
  /** The input of the action, limited to these properties. */
  readonly got?: Readonly<Record<string, unknown>>
  /** Returns `path message` of every problem, in any order. */
  readonly problems?: readonly string[]
  readonly detail?: RegExp
  /** Matches `path` of every problem, instead of `problems`. */
  readonly fails?: RegExp
}

/** The range of exact integers, as messages say it. */
export const exact = 'from -9007199254740991 to 9007199254740991; larger ones must be declared and sent as strings'
