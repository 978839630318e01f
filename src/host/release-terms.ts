import {
  defaultSettings,
  parseSettings,
  resolveReferences,
  type Settings,
  type Variables,
  shortId,
} from '../kit/index.ts'
import type { EventCatalog } from '../events/index.ts'
import { loadActiveRelease, type Manifest, type StoredRelease } from '../release/index.ts'
import { errors } from './errors.ts'
import type { Host } from './host.ts'
import { variablesOfSettings, withSystemVariables } from './system-variables.ts'

/** The parts of the active release that other processes than its servers need, such as workers and administration. */
export interface ReleaseTerms {
  readonly settings: Settings
  /** Undefined before the first deployment. */
  readonly releaseId: string | undefined
  readonly catalog: EventCatalog & Manifest['events']
  readonly listeners: NonNullable<Manifest['listeners']>
  /** The scopes that the release declares. */
  readonly scopes: Manifest['scopes']
  readonly schemas: Manifest['schemas']
}

/** The terms before the first deployment. */
export const defaultTerms: ReleaseTerms = {
  releaseId: undefined,
  settings: defaultSettings,
  catalog: {},
  listeners: {},
  scopes: {},
  schemas: {},
}

/** Returns the terms of the active release, or the defaults before the first deployment. */
export async function loadTerms(host: Host): Promise<ReleaseTerms> {
  const release = await loadActiveRelease(host.system)
  if (release === undefined) return defaultTerms
  const { variables } = await withSystemVariables(host, variablesOfSettings(release.manifest))
  return termsOf(release, variables)
}

/** The events of a release with their listeners, which get what is dispatched. */
export function catalogOf({ events, listeners = {} }: Pick<Manifest, 'events' | 'listeners'>): ReleaseTerms['catalog'] {
  const byEvent = Map.groupBy(Object.entries(listeners), ([, { event }]) => event)
  if (byEvent.size === 0) return events
  return Object.fromEntries(
    Object.entries(events).map(([name, event]) => {
      const own = byEvent.get(name) ?? []
      if (own.length === 0) return [name, event]
      const terms = own.map(([listener, { exclusive }]) => ({ name: listener, ...(exclusive && { exclusive }) }))
      return [name, { ...event, listeners: terms }]
    }),
  )
}

/** @throws WP_SERVER_SETTING, WP_SERVER_VARIABLE */
export function termsOf(release: Pick<StoredRelease, 'id' | 'manifest'>, variables: Variables): ReleaseTerms {
  const settings = resolveSettings(release, variables)
  return {
    releaseId: release.id,
    settings,
    catalog: catalogOf(release.manifest),
    listeners: release.manifest.listeners ?? {},
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
