import type { LoadOptions } from '../../../src/definition/index.ts'

/** A project with mistakes and what is said of them. */
export interface Case {
  readonly name: string
  /** Content by path; `src/a.ts` is always there. */
  readonly files: Readonly<Record<string, string>>
  readonly options?: LoadOptions
  /**
   * Each problem as `file:line:column «marked text» CODE message | hint < file:line:column of the including line`; a
   * warning has the word before its code.
   */
  readonly problems: readonly string[]
}
