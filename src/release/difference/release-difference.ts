import { parseSettings, resolveReferences, type Variables } from '../../kit/index.ts'
import type { AccessWarning } from '../../schema/index.ts'
import type { Manifest } from '../manifest.ts'
import { harmless, type ReleaseChange } from './change.ts'
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

/**
 * @param calls the calls of each method in the last 24 hours: `GET /todo` → number
 * @param runs the pending runs of each listener
 */
export function toDifference(
  { changes, policies, accessWarnings }: ComparedManifests,
  {
    calls,
    runs = {},
    variables,
  }: {
    readonly calls: Readonly<Record<string, number>>
    readonly runs?: Readonly<Record<string, number>>
    readonly variables: Variables
  },
): ReleaseDifference {
  return {
    changes: changes.map((one) => countRuns(countCalls(one, calls), runs)),
    breakingChanges: policies.some((policy) => isForbid(policy, variables)) ? 'forbid' : 'warn',
    accessWarnings,
  }
}

/** Runs of a listener that is removed or renamed wait: a rollback finds them again. */
function countRuns(change: ReleaseChange, runs: Readonly<Record<string, number>>): ReleaseChange {
  if (change.kind !== 'listener' || change.change !== 'removed' || !Object.hasOwn(runs, change.name)) return change
  const count = runs[change.name]!
  const text = count === 1 ? '1 pending run waits' : `${count} pending runs wait`
  return { ...change, details: [...change.details, harmless(`${text} until a release has it again`)] }
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
