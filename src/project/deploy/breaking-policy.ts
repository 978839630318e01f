import { parseSettings, resolveReferences, type Variables } from '../../kit/index.ts'
import type { Manifest } from '../../release/index.ts'

/**
 * What holds of changes that break callers: `forbid` where the active release or the one to come says so, so that no
 * release lifts it for itself. A variable that is not set here leaves it forbidden.
 */
export function breakingPolicy(manifests: readonly (Manifest | undefined)[], variables: Variables): 'warn' | 'forbid' {
  const said = manifests.flatMap((manifest) =>
    manifest?.config['breaking_changes'] === undefined
      ? []
      : [{ breaking_changes: manifest.config['breaking_changes'] }],
  )
  const isForbidden = said.some((config) => {
    const { value, missing } = resolveReferences(config, variables)
    const { settings, problems } = parseSettings(value)
    return missing.length > 0 || problems.length > 0 || settings.breaking_changes === 'forbid'
  })
  return isForbidden ? 'forbid' : 'warn'
}
