import type { CallOptions, Principal } from '../../contract/index.ts'
import type { RequestSources } from '../request-sources.ts'

/** A call of a method by the code of another one, or of a cronjob or listener. */
export interface MethodCall {
  readonly input: CallOptions
  readonly principal: Principal | undefined
  /** What the calling code runs for. */
  readonly parent: RequestSources
  readonly depth: number
}

/**
 * Runs a method as a part of other work.
 * @returns the body of its response
 * @throws the error that a caller over HTTP would have got as a problem
 */
export type Callable = (call: MethodCall) => Promise<unknown>

/** Runs methods of a release for the code of others: `context.call`. */
export interface MethodCalls {
  /** @throws WP_RUNTIME_CALL_UNKNOWN, WP_RUNTIME_CALL_DEPTH, WP_RUNTIME_CALL_USER, WP_RUNTIME_CALL_CALLER, or the error of the method */
  call(operation: string, input: CallOptions, parent: RequestSources): Promise<unknown>
}
