import type { Texts } from '../../definition/index.ts'

/** The new text of a file. */
export interface FileChange {
  /** Relative to the root, with forward slashes. */
  readonly file: string
  /** Undefined deletes the file. */
  readonly text: string | undefined
  /** Its current text; undefined if it must not exist. */
  readonly before: string | undefined
}

/** The files of a draft at one time. */
export interface DraftFiles {
  /** All definition files that can be edited. */
  readonly texts: Texts
  /** A hash of them. */
  readonly revision: string
}
