import { parseSettings, resolveReferences, type Variables } from '../../kit/index.ts'
import type { Manifest } from '../manifest.ts'
import type { ReleaseChange } from './change.ts'
import { compareManifests } from './compare-manifests.ts'

export interface PlannedManifests {
  /** Of the active release; undefined if there is none. */
  readonly before: Manifest | undefined
  readonly after: Manifest
}

/** What the activation of a release would change. */
export interface ChangePlan {
  readonly changes: readonly ReleaseChange[]
  /**
   * How breaking changes are handled: `forbid` if either the active or the new release says so, so that a release cannot
   * lift the rule for itself. Also `forbid` if it depends on an unset variable.
   */
  readonly breakingChanges: 'warn' | 'forbid'
}

/** @param calls the calls of each method in the last 24 hours: `GET /todo` → number */
export function planChanges(
  { before, after }: PlannedManifests,
  { calls, variables }: { readonly calls: Readonly<Record<string, number>>; readonly variables: Variables },
): ChangePlan {
  return {
    changes: compareManifests(before, after).map((one) => countCalls(one, calls)),
    breakingChanges: breakingPolicy([before, after], variables),
  }
}

function countCalls(change: ReleaseChange, calls: Readonly<Record<string, number>>): ReleaseChange {
  if (!change.breaking) return change
  const affected = change.details.flatMap(({ breaking, affects = [] }) => (breaking ? affects : []))
  const routes = change.kind === 'route' ? [change.name] : [...new Set(affected)]
  const sum = routes.reduce((total, name) => total + (Object.hasOwn(calls, name) ? calls[name]! : 0), 0)
  return sum === 0 ? change : { ...change, calls: sum }
}

function breakingPolicy(manifests: readonly (Manifest | undefined)[], variables: Variables): 'warn' | 'forbid' {
  const policies = manifests.flatMap((manifest) =>
    manifest?.config['breaking_changes'] === undefined
      ? []
      : [{ breaking_changes: manifest.config['breaking_changes'] }],
  )
  const isForbidden = policies.some((config) => {
    const { value, missing } = resolveReferences(config, variables)
    const { settings, problems } = parseSettings(value)
    return missing.length > 0 || problems.length > 0 || settings.breaking_changes === 'forbid'
  })
  return isForbidden ? 'forbid' : 'warn'
}
