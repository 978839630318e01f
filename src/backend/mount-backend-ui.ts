import type { FastifyPluginAsync } from 'fastify'
import { backendClientId, backendRedirectPath, hasAdministrator } from '../auth/index.ts'
import type { BackendSettings } from '../host/index.ts'
import { mountUi, queryOf, type UiConfig } from '../runtime/index.ts'
import type { System } from '../store/index.ts'

export interface BackendUiSources {
  readonly system: System
  readonly settings: BackendSettings
  readonly issuer: string
  /** Whether this is `dev`. */
  readonly isDevelopment: boolean
  /** Returns the name of the service. */
  service(): string
}

/** What the pages of the backend learn from the server. */
export interface BackendUiConfig extends UiConfig {
  /** Whether drafts and publishing are disabled. */
  readonly isReadOnly: boolean
}

/** Mounts the pages of the backend at `/backend/ui`. Without an administrator, they lead to the page that creates one. */
export function mountBackendUi(sources: BackendUiSources): FastifyPluginAsync {
  const { system, settings, issuer, isDevelopment, service } = sources
  const path = '/backend/ui'
  const mountPages = mountUi({
    path,
    file: 'index.html',
    issuer,
    config: (): Omit<BackendUiConfig, 'base' | 'issuer' | 'version'> => ({
      origin: settings.url ?? new URL(issuer).origin,
      clientId: backendClientId,
      redirectPath: backendRedirectPath,
      service: service(),
      isReadOnly: settings.mode === 'read',
      isDevelopment,
    }),
    redirect: async () => ((await hasAdministrator(system)) ? undefined : '/authorization/first-run'),
  })
  return async (app) => {
    app.get('/backend', (request, reply) =>
      reply.redirect(`${new URL(issuer).pathname.replace(/\/$/, '')}${path}/${queryOf(request)}`, 302),
    )
    await app.register(mountPages)
  }
}
