import type { FastifyPluginAsync } from 'fastify'
import { portalClientId, portalRedirectPath } from '../../auth/index.ts'
import { deriveAccent, type AccentSchemes, type Settings } from '../../kit/index.ts'
import { mountUi, type PageConfig, type UiConfig } from './mount-ui.ts'

export interface PortalSources {
  readonly issuer: string
  /** Whether this is `dev`. */
  readonly isDevelopment: boolean
  /** Returns the settings of the active release, which turn the portal on and off. */
  settings(): Settings
  /** Returns the name of the service. */
  service(): string
}

/** What the pages of the portal and of the API reference learn from the server. Read by src/backend/ui/portal/config.ts. */
export interface PortalConfig extends UiConfig {
  /** What the service is; empty if unknown. */
  readonly description: string
  /** The colours of the service; null for those of Waypost. */
  readonly accent: AccentSchemes | null
  /** Whether visitors may create an account. */
  readonly canRegister: boolean
  /** Who may read the API reference. */
  readonly docs: Settings['docs']
}

/** Mounts the pages for consumers of the API at `/portal`. */
export function mountPortal({ issuer, isDevelopment, settings, service }: PortalSources): FastifyPluginAsync {
  return mountUi({
    path: '/portal',
    file: 'portal.html',
    issuer,
    isOn: () => settings().portal,
    config: (): PageConfig<PortalConfig> => ({
      clientId: portalClientId,
      redirectPath: portalRedirectPath,
      ...describePortal({ issuer, isDevelopment, settings: settings(), service: service() }),
    }),
  })
}

type Described = Omit<PageConfig<PortalConfig>, 'clientId' | 'redirectPath'>

/** Returns what the portal and the API reference say about the service. */
export function describePortal({
  issuer,
  settings: { description, accent, registration, docs },
  ...rest
}: {
  readonly issuer: string
  readonly isDevelopment: boolean
  readonly settings: Settings
  readonly service: string
}): Described {
  return {
    ...rest,
    origin: new URL(issuer).origin,
    description,
    accent: accent === '' ? null : deriveAccent(accent),
    canRegister: registration,
    docs,
  }
}
