import { defaultSettings, parseSettings, resolveReferences } from '../../kit/index.ts'
import { findOpenAccess, type AccessWarning } from '../../schema/index.ts'
import type { Manifest } from '../manifest.ts'

/** Returns the warnings about the access to a release that the active one does not have. */
export function compareAccessWarnings(before: Manifest | undefined, after: Manifest): readonly AccessWarning[] {
  const known = new Set(before === undefined ? [] : findAccessWarnings(before).map((one) => JSON.stringify(one)))
  return findAccessWarnings(after).filter((one) => !known.has(JSON.stringify(one)))
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
