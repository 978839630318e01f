import type { CallOptions, Principal } from '../../contract/index.ts'
import { nearest } from '../../kit/index.ts'
import type { RequestSources } from '../request-sources.ts'
import { errors } from '../errors.ts'
import { callWithin } from '../open-transactions.ts'
import type { Callable, MethodCalls } from './method-call.ts'

/** Loads the principal for a call as a user; undefined for a user that does not exist or is disabled. */
export type LoadPrincipal = (userId: string) => Promise<Principal | undefined>

export interface MethodCallsOptions {
  readonly loadPrincipal: LoadPrincipal
  /** Finds a method of the release by `METHOD /path`. */
  find(operation: string): Callable | Promise<Callable> | undefined
  /** All methods, for messages. */
  operations(): readonly string[]
}

/** A method that calls itself without an end would otherwise stop only with the memory. */
const maxDepth = 5

export function makeMethodCalls({ loadPrincipal, find, operations }: MethodCallsOptions): MethodCalls {
  const findPrincipal = async (input: CallOptions, parent: RequestSources): Promise<Principal | undefined> => {
    const { as: userId } = input
    const { principal, conditions } = parent
    if (principal !== undefined) {
      if (userId === undefined) return principal
      throw errors.WP_RUNTIME_CALL_CALLER({ user: principal.user.name })
    }
    if (userId === undefined) {
      if (conditions === undefined) throw errors.WP_RUNTIME_CALL_USER()
      return undefined
    }
    const loaded = await loadPrincipal(userId)
    if (loaded === undefined) throw errors.WP_RUNTIME_CALL_USER_UNKNOWN({ id: userId })
    return loaded
  }
  const call: MethodCalls['call'] = async (operation, input, parent) => {
    const depth = (parent.depth ?? 0) + 1
    if (depth > maxDepth) throw errors.WP_RUNTIME_CALL_DEPTH({ operation, limit: maxDepth })
    const callable = await find(operation)
    if (callable === undefined) {
      const guess = nearest(operation, operations())
      const hint = guess === undefined ? 'Name it as in the definition: "GET /todo/:id".' : `Did you mean "${guess}"?`
      throw errors.WP_RUNTIME_CALL_UNKNOWN({ operation, hint })
    }
    return callable({ input, principal: await findPrincipal(input, parent), parent, depth })
  }
  return { call: (...given) => callWithin(() => call(...given)) }
}
