import type { AttemptReport, RunReport } from '../events/index.ts'
import type { Diagnostic } from '../kit/index.ts'
import type { RequestReport } from '../runtime/index.ts'
import type { CronjobReport } from '../jobs/index.ts'
import type { DevelopmentUser } from './development-user.ts'
import type { MigrationReport } from './migrate.ts'
import type { SuggestedRequest } from './suggest-requests.ts'

/** The output of `dev`. */
export interface DevConsole {
  started(event: DevStarted): void
  /** The project that is served first has these warnings. */
  foundWarnings(diagnostics: readonly Diagnostic[]): void
  answered(answered: RequestReport): void
  failed(error: unknown, request: { id: string; method: string; path: string }): void
  /** Project code failed outside of a request: a rejected promise that was not awaited, or a timer. */
  unhandledError(error: unknown): void
  delivered(attempt: AttemptReport): void
  ranListener(report: RunReport): void
  ranCronjob(report: CronjobReport): void
  reloaded(event: DevReloaded): void
  reloadFailed(event: DevReloadFailed): void
  warned(message: string): void
  /** TypeScript has checked the project in the background, and found these problems. */
  checkedTypes(diagnostics: readonly Diagnostic[]): void
  /** An action wrote to its log. */
  logged(line: LoggedLine): void
}

/** A log entry of `context.log`. */
export interface LoggedLine {
  readonly level: string
  readonly message: string
  /** Set if a cronjob ran the action. */
  readonly cronjob: string | undefined
  readonly fields: Readonly<Record<string, unknown>>
  /** The value of `err`. */
  readonly error?: unknown
}

export interface DevStarted {
  readonly project: string
  readonly url: string
  /** URLs from other machines, if it listens on all addresses. */
  readonly network: readonly string[]
  /** The API reference; undefined if the project disables it. */
  readonly docs: string | undefined
  /** A link that opens the backend, signed in once; undefined if the backend is off. */
  readonly backend: string | undefined
  readonly target: string
  /** The files from which variables were read; the last one takes precedence. */
  readonly envFiles: readonly string[]
  readonly user: DevelopmentUser
  readonly migration: MigrationReport
  readonly delivers: boolean
  /** Requests to try first. */
  readonly suggestions: readonly SuggestedRequest[]
  /** Whether the project is served. If it is not, `reloadFailed` says why. */
  readonly isServing: boolean
  readonly ms: number
}

/** A save was loaded. `diagnostics` may contain warnings. */
export interface DevReloaded {
  readonly files: readonly string[]
  readonly ms: number
  readonly diagnostics: readonly Diagnostic[]
  readonly migration: MigrationReport
  /** Set if a page of the backend saved the files. */
  readonly origin?: 'backend' | undefined
  /** Whether the previous save had errors. */
  readonly isFixed: boolean
}

/** A save has errors. The previous version is still served. */
export interface DevReloadFailed {
  readonly files: readonly string[]
  readonly diagnostics: readonly Diagnostic[]
  /** The error of a failure without file errors, for example of a migration. */
  readonly error?: unknown
  /** Set if a page of the backend saved the files. */
  readonly origin?: 'backend' | undefined
  /** Whether a version is being served. */
  readonly isServing: boolean
}
