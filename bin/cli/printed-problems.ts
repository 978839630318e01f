import { messageOf, type Diagnostic } from '../../src/kit/index.ts'
import { describeFailure } from './dev-lines.ts'
import { plural } from './format.ts'

/** The problems of a load. */
export interface Problems {
  readonly diagnostics: readonly Diagnostic[]
  readonly error?: unknown
}

/** The changes since the problems of the previous load. */
export interface ProblemChanges {
  /** To be printed in full. */
  readonly fresh: readonly Diagnostic[]
  /** A summary if the errors are unchanged. */
  readonly unchangedErrors: string | undefined
  /** A summary of unchanged warnings, which are not printed again. */
  readonly unchangedWarnings: string | undefined
}

/** Remembers printed problems, so that they are not repeated on each save. */
export class PrintedProblems {
  #errors = ''
  #warnings: ReadonlySet<string> = new Set()

  /** @param isAllWanted whether the user asked for all problems */
  update({ diagnostics, error }: Problems, isAllWanted: boolean): ProblemChanges {
    const errors = diagnostics.filter((one) => one.severity === 'error')
    const warnings = diagnostics.filter((one) => one.severity === 'warning')
    const text = JSON.stringify([errors, error === undefined ? undefined : describeFailure(error)])
    const hasErrors = errors.length > 0 || error !== undefined
    const isSame = !isAllWanted && hasErrors && text === this.#errors
    const known = isAllWanted ? new Set<string>() : this.#warnings
    this.#errors = text
    this.#warnings = new Set(warnings.map((one) => JSON.stringify(one)))
    const fresh = warnings.filter((one) => !known.has(JSON.stringify(one)))
    const unchangedWarnings = warnings.length - fresh.length
    return {
      fresh: isSame ? fresh : diagnostics.filter((one) => one.severity === 'error' || fresh.includes(one)),
      unchangedErrors: isSame ? describeStill(errors, error) : undefined,
      unchangedWarnings: unchangedWarnings === 0 ? undefined : `${plural(unchangedWarnings, 'warning')} as before`,
    }
  }
}

/** Remembers printed type errors. One that only moved to another line is not printed again. */
export class PrintedTypeErrors {
  #known: ReadonlySet<string> = new Set()

  update(diagnostics: readonly Diagnostic[]) {
    const keyOf = ({ file, code, message }: Diagnostic) => JSON.stringify([file, code, message])
    const known = this.#known
    this.#known = new Set(diagnostics.map(keyOf))
    return {
      fresh: diagnostics.filter((one) => !known.has(keyOf(one))),
      total: diagnostics.length,
      isFixed: known.size > 0 && diagnostics.length === 0,
    }
  }
}

function describeStill([first, ...others]: readonly Diagnostic[], error: unknown): string {
  if (first === undefined) return `still an error: ${messageOf(error).split('\n', 1)[0]}`
  const { file, range, message } = first
  return `still ${plural(others.length + 1, 'error')}: ${file}:${range.start.line}:${range.start.column}  ${message}`
}
