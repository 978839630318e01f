import type { IncomingMessage } from 'node:http'
import type { WaypostError } from '../kit/index.ts'
import { errors } from './errors.ts'

export interface ProtectedPages {
  /** The origin of a host that serves only the backend; undefined if there is none. */
  readonly backendUrl: string | undefined
  /** The URL of the API. */
  readonly issuer: string
  /** Whether there are pages of Waypost on the origin of the API: the backend or the portal. */
  isShared(): boolean
}

const pathsOfBackendHost = /^\/(backend|authorization|\.well-known|health)(\/|\?|$)/

/**
 * Makes the check that keeps user routes away from the pages of the backend and the portal, with which they may share
 * an origin. A service worker would control all pages of its origin. On a host of its own, the backend shares nothing.
 */
export function makePageProtection(pages: ProtectedPages): (request: IncomingMessage) => WaypostError | undefined {
  const isBackendHost = pages.backendUrl === undefined ? undefined : makeHostMatch(pages.backendUrl, pages.issuer)
  return ({ headers, url = '' }) => {
    if (isBackendHost?.(headers.host ?? '') === true)
      return pathsOfBackendHost.test(url) ? undefined : errors.WP_RUNTIME_BACKEND_HOST()
    const isWorker = headers['service-worker'] !== undefined
    return isWorker && pages.isShared() ? errors.WP_RUNTIME_SERVICE_WORKER() : undefined
  }
}

/**
 * Makes the check whether a `Host` header names the backend. Hosts have no case, and the port may be omitted or be that of
 * a proxy. It only counts if the API has the same name.
 */
function makeHostMatch(backendUrl: string, issuer: string): (header: string) => boolean {
  const backend = new URL(backendUrl)
  const isNameEnough = backend.hostname !== new URL(issuer).hostname
  return (header) => {
    const address = `${backend.protocol}//${header}`
    if (!URL.canParse(address)) return false
    const { hostname, host } = new URL(address)
    return isNameEnough ? hostname.replace(/\.$/, '') === backend.hostname : host === backend.host
  }
}
