import { parseSettings, resolveReferences, type Variables } from '../../kit/index.ts'
import type { AccessWarning } from '../../schema/index.ts'
import type { Manifest } from '../manifest.ts'
import type { ReleaseChange } from './change.ts'
import { compareAccessWarnings } from './access-warnings.ts'
import { compareManifests } from './compare-manifests.ts'

/** What the activation of a release would change. */
export interface ReleaseDifference {
  readonly changes: readonly ReleaseChange[]
  /**
   * How breaking changes are handled: `forbid` if either the active or the new release says so, so that a release cannot
   * lift the rule for itself. Also `forbid` if it depends on an unset variable.
   */
  readonly breakingChanges: 'warn' | 'forbid'
  /** What lets more people in than meant, as far as the active release does not. */
  readonly accessWarnings: readonly AccessWarning[]
}

/** Two manifests that were compared, and what is needed of them afterwards. */
export interface ComparedManifests {
  readonly changes: readonly ReleaseChange[]
  /** The setting `breaking_changes` of each as it is written; it may refer to variables. */
  readonly policies: readonly unknown[]
  readonly accessWarnings: readonly AccessWarning[]
}

/** Compares two manifests. Needs no variables and no database, so that a thread can do it. */
export function compareReleases(before: Manifest | undefined, after: Manifest): ComparedManifests {
  const policies = [before, after].flatMap((manifest) => manifest?.config['breaking_changes'] ?? [])
  const accessWarnings = compareAccessWarnings(before, after)
  return { changes: compareManifests(before, after), policies, accessWarnings }
}

/** @param calls the calls of each method in the last 24 hours: `GET /todo` → number */
export function toDifference(
  { changes, policies, accessWarnings }: ComparedManifests,
  { calls, variables }: { readonly calls: Readonly<Record<string, number>>; readonly variables: Variables },
): ReleaseDifference {
  return {
    changes: changes.map((one) => countCalls(one, calls)),
    breakingChanges: policies.some((policy) => isForbid(policy, variables)) ? 'forbid' : 'warn',
    accessWarnings,
  }
}

function countCalls(change: ReleaseChange, calls: Readonly<Record<string, number>>): ReleaseChange {
  if (!change.breaking) return change
  const affected = change.details.flatMap(({ breaking, affects = [] }) => (breaking ? affects : []))
  const routes = change.kind === 'route' ? [change.name] : [...new Set(affected)]
  const sum = routes.reduce((total, name) => total + (Object.hasOwn(calls, name) ? calls[name]! : 0), 0)
  return sum === 0 ? change : { ...change, calls: sum }
}

function isForbid(policy: unknown, variables: Variables): boolean {
  const { value, missing } = resolveReferences({ breaking_changes: policy }, variables)
  const { settings, problems } = parseSettings(value)
  return missing.length > 0 || problems.length > 0 || settings.breaking_changes === 'forbid'
}
