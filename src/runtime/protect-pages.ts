import type { IncomingMessage } from 'node:http'
import type { WaypostError } from '../kit/index.ts'
import { errors } from './errors.ts'

export interface ProtectedPages {
  /** The origin of a host that serves only the backend; undefined if there is none. */
  readonly backendUrl: string | undefined
  /** Whether there are pages of Waypost on the origin of the API: the backend or the portal. */
  isShared(): boolean
}

const pathsOfBackendHost = /^\/(backend|authorization|\.well-known|health)(\/|\?|$)/

/**
 * Makes the check that keeps user routes away from the pages of the backend and the portal, with which they may share
 * an origin. A service worker would control all pages of its origin. On a host of its own, the backend shares nothing.
 */
export function makePageProtection(pages: ProtectedPages): (request: IncomingMessage) => WaypostError | undefined {
  const host = pages.backendUrl === undefined ? undefined : new URL(pages.backendUrl).host
  return ({ headers, url = '' }) => {
    if (host !== undefined && headers.host === host)
      return pathsOfBackendHost.test(url) ? undefined : errors.WP_RUNTIME_BACKEND_HOST()
    const isWorker = headers['service-worker'] !== undefined
    return isWorker && pages.isShared() ? errors.WP_RUNTIME_SERVICE_WORKER() : undefined
  }
}
