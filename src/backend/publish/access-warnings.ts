import type { Diagnostic } from '../../kit/index.ts'
import { subtractKnown } from '../draft/save-changes.ts'

/** Warnings about who can read or change data, which a person must have read before they go live. */
const codes: ReadonlySet<string> = new Set([
  'WP_DEFINITION_EVENT_DEFAULT_SCOPE',
  'WP_DEFINITION_EVENT_OPEN',
  'WP_DEFINITION_PUBLIC_CHANGE',
  'WP_DEFINITION_PUBLIC_SCOPES',
  'WP_DEFINITION_SCOPE_UNDECLARED',
])

/**
 * Returns the warnings about access that the active release does not have.
 * @param loadActive returns the problems of the active release; called only if there are warnings about access
 */
export async function findAccessWarnings(
  found: readonly Diagnostic[],
  loadActive: () => Promise<readonly Diagnostic[]>,
): Promise<readonly Diagnostic[]> {
  const own = found.filter(({ code, severity }) => severity === 'warning' && codes.has(code))
  return own.length === 0 ? own : subtractKnown(own, await loadActive())
}
