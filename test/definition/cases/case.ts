import type { LoadOptions } from '../../../src/definition/index.ts'

/** An invalid project with its expected problems. */
export interface Case {
  readonly name: string
  /** Content by path; `src/a.ts` always exists. */
  readonly files: Readonly<Record<string, string>>
  readonly options?: LoadOptions
  /**
   * Each problem as `file:line:column «marked text» CODE message | hint < file:line:column of the including line`;
   * warnings have that word before the code.
   */
  readonly problems: readonly string[]
}
