import {
  defaultSettings,
  parseSettings,
  resolveReferences,
  type Settings,
  type Variables,
  shortId,
} from '../kit/index.ts'
import { loadActiveRelease, type Manifest, type StoredRelease } from '../release/index.ts'
import { errors } from './errors.ts'
import type { Host } from './host.ts'
import { variablesOfSettings, withSystemVariables } from './system-variables.ts'

/** The parts of the active release that other processes than its servers need, such as workers and administration. */
export interface ReleaseTerms {
  readonly settings: Settings
  readonly catalog: Manifest['events']
  /** The scopes that the release declares. */
  readonly scopes: Manifest['scopes']
  readonly schemas: Manifest['schemas']
}

/** The terms before the first deployment. */
export const defaultTerms: ReleaseTerms = { settings: defaultSettings, catalog: {}, scopes: {}, schemas: {} }

/** Returns the terms of the active release, or the defaults before the first deployment. */
export async function loadTerms(host: Host): Promise<ReleaseTerms> {
  const release = await loadActiveRelease(host.system)
  if (release === undefined) return defaultTerms
  const { variables } = await withSystemVariables(host, variablesOfSettings(release.manifest))
  return termsOf(release, variables)
}

/** @throws WP_SERVER_SETTING, WP_SERVER_VARIABLE */
export function termsOf(release: Pick<StoredRelease, 'id' | 'manifest'>, variables: Variables): ReleaseTerms {
  const settings = resolveSettings(release, variables)
  return {
    settings,
    catalog: release.manifest.events,
    scopes: release.manifest.scopes,
    schemas: release.manifest.schemas,
  }
}

function resolveSettings({ id, manifest }: { id: string; manifest: Manifest }, variables: Variables): Settings {
  const { value, missing } = resolveReferences(manifest.config, variables)
  if (missing.length > 0) throw errors.WP_SERVER_VARIABLE({ variables: missing.join(', '), release: shortId(id) })
  const { settings, problems } = parseSettings(value)
  const [first] = problems
  if (first !== undefined)
    throw errors.WP_SERVER_SETTING({ name: first.name, reason: first.message, release: shortId(id) })
  return settings
}
