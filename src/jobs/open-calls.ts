import { loadUserPrincipal, makeScopeCheck } from '../auth/index.ts'
import { defaultIssuer, termsOf, type Host } from '../host/index.ts'
import type { StoredRelease } from '../release/index.ts'
import { loadMethodCode, makeReleaseCalls, methodsOf, type CodeSources, type ContextSources } from '../runtime/index.ts'

/** Adds `context.call` to the contexts of cronjobs or listeners. The code of a method is loaded when it is called first. */
export function withCalls(
  contexts: ContextSources,
  { host, release, code }: { readonly host: Host; readonly release: StoredRelease; readonly code: CodeSources },
): ContextSources {
  const { manifest } = release
  const methods = new Map(methodsOf(manifest).map((one) => [`${one.method} ${one.path}`, one]))
  const calls = makeReleaseCalls({
    manifest,
    contexts,
    checkResults: false,
    bodyLimit: termsOf(release, host.variables).settings.body_limit,
    loadPrincipal: (id) => loadUserPrincipal(host.system, id),
    assertScopes: makeScopeCheck(defaultIssuer),
    async loadCode(operation) {
      const method = methods.get(operation)!
      return (await loadMethodCode(code, [method]))(method.of)
    },
  })
  return { ...contexts, calls }
}
