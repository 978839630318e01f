import { messageOf, type Diagnostic } from '../../src/kit/index.ts'
import { describeFailure } from './dev-lines.ts'
import { plural } from './format.ts'

/** Problems of one look at the files. */
export interface Problems {
  readonly diagnostics: readonly Diagnostic[]
  readonly error?: unknown
}

/** What of the problems of a look was not printed for the look before. */
export interface Unprinted {
  /** To be printed whole. */
  readonly fresh: readonly Diagnostic[]
  /** Errors are the same as before: in a few words. */
  readonly still: string | undefined
  /** Warnings that stand unchanged, and are not printed again: in a few words. */
  readonly left: string | undefined
}

/** Remembers which problems were printed, so that one that stays is shown once and not at every save. */
export class PrintedProblems {
  #errors = ''
  #warnings: ReadonlySet<string> = new Set()

  /** @param isAllWanted somebody asked to see everything */
  take({ diagnostics, error }: Problems, isAllWanted: boolean): Unprinted {
    const errors = diagnostics.filter((one) => one.severity === 'error')
    const warnings = diagnostics.filter((one) => one.severity === 'warning')
    const text = JSON.stringify([errors, error === undefined ? undefined : describeFailure(error)])
    const hasErrors = errors.length > 0 || error !== undefined
    const isSame = !isAllWanted && hasErrors && text === this.#errors
    const known = isAllWanted ? new Set<string>() : this.#warnings
    this.#errors = text
    this.#warnings = new Set(warnings.map((one) => JSON.stringify(one)))
    const fresh = warnings.filter((one) => !known.has(JSON.stringify(one)))
    const left = warnings.length - fresh.length
    return {
      fresh: isSame ? fresh : diagnostics.filter((one) => one.severity === 'error' || fresh.includes(one)),
      still: isSame ? describeStill(errors, error) : undefined,
      left: left === 0 ? undefined : `${plural(left, 'warning')} as before`,
    }
  }
}

function describeStill([first, ...others]: readonly Diagnostic[], error: unknown): string {
  if (first === undefined) return `still an error: ${messageOf(error).split('\n', 1)[0]}`
  const { file, range, message } = first
  return `still ${plural(others.length + 1, 'error')}: ${file}:${range.start.line}:${range.start.column}  ${message}`
}
