import type { AttemptReport } from '../events/index.ts'
import type { Diagnostic } from '../kit/index.ts'
import type { Answered } from '../runtime/index.ts'
import type { CronjobReport } from '../jobs/index.ts'
import type { DevelopmentUser } from './development-user.ts'
import type { MigrationReport } from './migrate.ts'
import type { SuggestedRequest } from './suggest-requests.ts'

/** Where `dev` says what happens. */
export interface DevConsole {
  started(news: DevStarted): void
  answered(answered: Answered): void
  failed(error: unknown, request: { id: string; method: string; path: string }): void
  /** Code of the project failed where no request waits for it: a promise that nobody awaited, a timer. */
  strayed(error: unknown): void
  delivered(attempt: AttemptReport): void
  ranCronjob(report: CronjobReport): void
  reloaded(news: DevReloaded): void
  refused(news: DevRefused): void
  warned(message: string): void
  /** An action wrote to its log. */
  logged(line: LoggedLine): void
}

/** One line of `context.log`. */
export interface LoggedLine {
  readonly level: string
  readonly message: string
  /** Where a cronjob ran the action. */
  readonly cronjob: string | undefined
  readonly fields: Readonly<Record<string, unknown>>
  /** What stands under `err`. */
  readonly error?: unknown
}

export interface DevStarted {
  readonly project: string
  readonly url: string
  /** From other machines, where it listens on every address. */
  readonly network: readonly string[]
  /** The reference; undefined where the project switched it off. */
  readonly docs: string | undefined
  readonly target: string
  readonly user: DevelopmentUser
  readonly migration: MigrationReport
  readonly delivers: boolean
  /** To try first. */
  readonly suggestions: readonly SuggestedRequest[]
  readonly ms: number
}

/** A save was taken over; `diagnostics` may hold warnings. */
export interface DevReloaded {
  readonly files: readonly string[]
  readonly ms: number
  readonly diagnostics: readonly Diagnostic[]
  readonly migration: MigrationReport
  /** The save before had errors. */
  readonly isMended: boolean
}

/** A save has errors: what was served before stays. */
export interface DevRefused {
  readonly files: readonly string[]
  readonly diagnostics: readonly Diagnostic[]
  /** What failed although no file has an error, for example a migration. */
  readonly error?: unknown
  /** Whether anything was served before. */
  readonly isServing: boolean
}
