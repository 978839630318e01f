import type { Texts } from '../../definition/index.ts'
import type { Diagnostic } from '../../kit/index.ts'
import type { DraftTables } from './draft-tables.ts'
import type { Manifest } from '../../release/index.ts'
import type { DraftFolder } from './draft-folder.ts'
import type { DraftFiles, FileChange } from './file-change.ts'
import type { PlannedDraft, WriteOptions } from './planned-draft.ts'
import type { DraftThread } from './thread/draft-thread.ts'

/** A definition that the pages of the backend edit: in `dev` the files of the project's folder, on a server its draft. */
export interface Draft {
  readonly name: string
  /** Undefined on a server, whose changes are served when they are published, and whose code comes with a deployment. */
  readonly folder: DraftFolder | undefined
  readonly tables: DraftTables
  /** Parses, compares and edits its texts. */
  readonly thread: DraftThread
  read(): Promise<DraftFiles>
  /** Returns what changes are compared with. */
  loadBase(): Promise<DraftBase>
  /** Returns the problems of the current files, and whether they are served. */
  status(): Promise<DraftStatus>
  /** Returns the last changes, also those of other programs, the newest first. */
  listHistory(): Promise<readonly DraftChange[]>
  /**
   * Returns the manifest of the current files; undefined if they have errors. Absent in `dev`, where the active release
   * has it.
   */
  loadManifest?(): Promise<Manifest | undefined>
  /** Returns the classes of the plugins that the definition lists. */
  loadPlugins(): Promise<Pick<Manifest, 'plugins'>>
  /** Lists the files with the class of an action. */
  listActions(): Promise<readonly ActionFile[]>
  /**
   * Sets a variable of the folder, which nothing reads back. On a server, publishing sets it.
   * @returns the name to use: another one if the active release uses this one
   * @throws WP_BACKEND_DRAFT_VARIABLE, WP_SERVER_VARIABLE_NAME, WP_SERVER_VARIABLE_RESERVED, WP_SERVER_VARIABLE_VALUE
   */
  setVariable(name: string, value: string, by: DraftAuthor): Promise<string>
  /** Runs functions that change the draft one at a time. */
  exclusive<Result>(work: () => Promise<Result>): Promise<Result>
  /** Loads the definition with changes. Returns all its problems. Writes nothing. */
  check(changes: readonly Pick<FileChange, 'file' | 'text'>[]): Promise<readonly Diagnostic[]>
  /** Loads the definition with changes. Returns the errors that it does not have without them. Writes nothing. */
  findNewErrors(plan: PlannedDraft): Promise<readonly Diagnostic[]>
  /**
   * Writes all files or none.
   * @returns whether they are served, when that is known; undefined if another program has changed
   * one of the files since it was read
   * @throws WP_BACKEND_DRAFT_REFUSED, WP_PROJECT_WRITE
   */
  write(
    changes: readonly FileChange[],
    options?: WriteOptions & { readonly by?: DraftAuthor | undefined },
  ): Promise<{ readonly served: Promise<boolean> } | undefined>
}

/** The user who changes a draft. */
export interface DraftAuthor {
  readonly id: string
  readonly name: string
}

/** A change of the files. */
export interface DraftChange {
  /** The user; undefined if another program, such as an editor, changed the files. */
  readonly by: string | undefined
  /** In milliseconds since 1970. */
  readonly at: number
  readonly files: readonly string[]
  /** JSON pointers of the entries that changed: `/event/todo_created`. Empty if they are not known. */
  readonly entries: readonly string[]
}

/** A file with the class of an action. */
export interface ActionFile {
  readonly file: string
  /** `GET /todo`, or `cronjob tidy`. */
  readonly usedBy: readonly string[]
}

export interface DraftBase {
  readonly kind: 'git' | 'start' | 'release'
  /** The commit, or the short id of the release; empty for `start` and without a release. */
  readonly name: string
  readonly texts: Texts
}

export interface DraftStatus {
  /** The problems of the current files. */
  readonly diagnostics: readonly Diagnostic[]
  /** Why the current files are not served, if no file is the cause. */
  readonly problem: { readonly code: string; readonly message: string; readonly hint: string | undefined } | undefined
  /** Whether the current files are served. False: the last state without errors is. */
  readonly isServed: boolean
  /** When the served state was loaded, in milliseconds since 1970; undefined if nothing is served yet. */
  readonly servedAt: number | undefined
}
