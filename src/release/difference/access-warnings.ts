import { defaultSettings, parseSettings, resolveReferences, shapeOfPath } from '../../kit/index.ts'
import { findOpenAccess, type AccessWarning } from '../../schema/index.ts'
import type { Manifest } from '../manifest.ts'

/** Returns the warnings about the access to a release that the active one does not have. */
export function compareAccessWarnings(before: Manifest | undefined, after: Manifest): readonly AccessWarning[] {
  const known = new Set(before === undefined ? [] : findAccessWarnings(before).map((one) => JSON.stringify(one)))
  const found = findAccessWarnings(after).filter((one) => !known.has(JSON.stringify(one)))
  return [...found, ...findRemovedSteps(before, after)]
}

function findAccessWarnings(manifest: Manifest): readonly AccessWarning[] {
  return findOpenAccess(manifest, readDefaultScopes(manifest.config['scopes_default']))
}

/** Unknown if they depend on variables, which each server has its own values of. */
function readDefaultScopes(written: unknown): readonly string[] {
  if (written === undefined) return defaultSettings.scopes_default
  const { value, missing } = resolveReferences({ scopes_default: written }, {})
  if (missing.length > 0) return []
  const { settings, problems } = parseSettings(value)
  return problems.length > 0 ? [] : settings.scopes_default
}

/**
 * Returns a warning for each private method with scopes that runs a step less than before: steps often decide which rows a
 * caller may see. A new method is compared with the groups around it.
 */
function findRemovedSteps(before: Manifest | undefined, after: Manifest): readonly AccessWarning[] {
  const known = new Map(
    (before?.routes ?? []).flatMap(({ path, methods }) =>
      methods.map((method) => [`${method.method} ${shapeOfPath(path)}`, method] as const),
    ),
  )
  return after.routes.flatMap(({ path, methods }) =>
    methods.flatMap((method): readonly AccessWarning[] => {
      if (method.public || method.scopes.length === 0) return []
      const old = known.get(`${method.method} ${shapeOfPath(path)}`)
      const now = new Set(method.steps?.map(({ name }) => name))
      const names = old === undefined ? (method.without ?? []) : (old.steps ?? []).map(({ name }) => name)
      const verb = old === undefined ? 'does not run' : 'no longer runs'
      return names
        .filter((name) => !now.has(name))
        .map((name) => ({
          code: 'WP_DEFINITION_STEP_REMOVED',
          kind: 'route',
          name: `${method.method} ${path}`,
          text: `${verb} the step ${name}, which may restrict access`,
        }))
    }),
  )
}
