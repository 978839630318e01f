import { isWaypostError, messageOf } from '../../kit/index.ts'

/** What one look at a host, its System or its project found. It holds no secret: it is there to be shown around. */
export interface Finding {
  readonly check: string
  readonly state: 'ok' | 'warn' | 'fail' | 'skip'
  readonly message: string
  /** What to do next. */
  readonly next?: string
  /** A line to paste. */
  readonly command?: string
}

/** Looks, and takes what is thrown meanwhile for a finding too. */
export async function look(check: string, work: () => Promise<Finding> | Finding): Promise<Finding> {
  try {
    return await work()
  } catch (error) {
    return failure(check, error)
  }
}

/** An error as a finding. */
export function failure(check: string, error: unknown): Finding {
  const hint = isWaypostError(error) ? error.hint : undefined
  return { check, state: 'fail', message: messageOf(error), ...(hint === undefined ? {} : { next: hint }) }
}
