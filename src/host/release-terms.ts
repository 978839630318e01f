import type { EventCatalog } from '../events/index.ts'
import {
  defaultSettings,
  parseSettings,
  resolveReferences,
  type Settings,
  type Variables,
  shortId,
} from '../kit/index.ts'
import { loadActiveRelease, type Manifest, type StoredRelease } from '../release/index.ts'
import type { System } from '../store/index.ts'
import { errors } from './errors.ts'

/** What the active release says to those who do not serve its routes: workers, administration. */
export interface ReleaseTerms {
  /** What people call the service: the setting `title`, else the name of the project; empty where it has none. */
  readonly service: string
  readonly settings: Settings
  readonly catalog: EventCatalog
  /** What the release says of its scopes. */
  readonly scopes: Manifest['scopes']
}

/** What holds before anything was deployed. */
export const defaultTerms: ReleaseTerms = { service: '', settings: defaultSettings, catalog: {}, scopes: {} }

/** The terms of the active release; the defaults before anything was deployed. */
export async function loadTerms(system: System, variables: Variables): Promise<ReleaseTerms> {
  const release = await loadActiveRelease(system)
  return release === undefined ? defaultTerms : termsOf(release, variables)
}

/** @throws WP_SERVER_SETTING, WP_SERVER_VARIABLE */
export function termsOf(release: Pick<StoredRelease, 'id' | 'manifest'>, variables: Variables): ReleaseTerms {
  const settings = resolveSettings(release, variables)
  return {
    service: settings.title || release.manifest.name,
    settings,
    catalog: release.manifest.events,
    scopes: release.manifest.scopes,
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
