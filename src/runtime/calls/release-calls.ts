import type { Manifest } from '../../release/index.ts'
import type { ContextSources } from '../action-context.ts'
import type { MethodCode } from '../mount-routes.ts'
import { RunningActions } from '../running-actions.ts'
import { makeSchemaCache } from '../schema-cache.ts'
import { makeCallable, type CallSources, type MethodToCall } from './callable.ts'
import type { Callable, MethodCalls } from './method-call.ts'
import { makeMethodCalls, type LoadPrincipal } from './method-calls.ts'

export interface ReleaseCallsOptions extends Pick<CallSources, 'assertScopes' | 'checkResults' | 'bodyLimit'> {
  readonly manifest: Manifest
  readonly contexts: ContextSources
  readonly loadPrincipal: LoadPrincipal
  /** Loads the code of one method, when it is called first. */
  loadCode(operation: string): Promise<MethodCode>
}

/** Runs methods of a release where it is not served: for cronjobs and listeners. Code is loaded when it is needed. */
export function makeReleaseCalls(options: ReleaseCallsOptions): MethodCalls {
  const { manifest, contexts, loadPrincipal, loadCode, ...others } = options
  const methods = new Map<string, Pick<MethodToCall, 'route' | 'method'>>(
    manifest.routes.flatMap((route) =>
      route.methods.map((method) => [`${method.method} ${route.path}`, { route, method }]),
    ),
  )
  const made = new Map<string, Promise<Callable>>()
  const running = new RunningActions()
  const make = async (operation: string): Promise<Callable> => {
    const sources = { ...contexts, ...others, calls, manifest, schemas: makeSchemaCache() }
    return makeCallable(sources, {
      ...methods.get(operation)!,
      ...(await loadCode(operation)),
      running,
      counter: undefined,
    })
  }
  const calls = makeMethodCalls({
    loadPrincipal,
    operations: () => [...methods.keys()],
    find(operation) {
      if (!methods.has(operation)) return undefined
      const known = made.get(operation) ?? make(operation)
      made.set(operation, known)
      known.catch(() => made.delete(operation)) // the next call may succeed, for example after a timeout
      return known
    },
  })
  return calls
}
