import type { TablesSnapshot } from '../../contract/index.ts'
import type { FileChange } from './file-change.ts'

export interface WriteOptions {
  /** New files with code that Waypost has generated. All other files must be files of the definition. */
  readonly code?: readonly string[] | undefined
}

/** A change of files that was planned and is not written yet. */
export interface PlannedDraft extends WriteOptions {
  readonly changes: readonly FileChange[]
  /** The tables of the connections whose migrations change, afterwards. */
  readonly tables?: Readonly<Record<string, TablesSnapshot>> | undefined
}
