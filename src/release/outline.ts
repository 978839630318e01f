import { compareReleases, type ComparedManifests } from './difference/release-difference.ts'
import { neededScopes, requiredVariables, type Manifest, type ManifestMethod } from './manifest.ts'

/** What decides whether a release may become active. Small, because a thread sends it to another. */
export interface ReleaseOutline extends Pick<Manifest, 'waypost' | 'connections' | 'migrations'> {
  readonly id: string
  /** Scopes that are required to use the release. */
  readonly scopes: readonly string[]
  /** Variables that must be set. */
  readonly variables: readonly string[]
  /** Only the methods whose actions have plans. */
  readonly routes: readonly {
    readonly path: string
    readonly methods: readonly Pick<ManifestMethod, 'method' | 'action'>[]
  }[]
  /** Compared with the active release. */
  readonly compared: ComparedManifests
}

/**
 * @param before the manifest of the active release; undefined if there is none, or if it is damaged
 * @param compared the comparison with it, if it was made before
 */
export function outlineRelease(
  id: string,
  manifest: Manifest,
  before: Manifest | undefined,
  compared: ComparedManifests = compareReleases(before, manifest),
): ReleaseOutline {
  const { waypost, connections, migrations, routes } = manifest
  return {
    id,
    waypost,
    connections,
    migrations,
    scopes: neededScopes(manifest),
    variables: requiredVariables(manifest),
    routes: routes.map(({ path, methods }) => {
      const planned = methods.filter(({ action }) => 'class' in action && action.plan !== undefined)
      return { path, methods: planned.map(({ method, action }) => ({ method, action })) }
    }),
    compared,
  }
}
