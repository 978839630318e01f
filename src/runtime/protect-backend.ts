import type { IncomingMessage } from 'node:http'
import type { WaypostError } from '../kit/index.ts'
import { errors } from './errors.ts'

const ownPaths = /^\/(backend|authorization|\.well-known|health)(\/|\?|$)/

/**
 * Makes the check that keeps user routes away from the pages of the backend, with which they may share an origin. A
 * service worker would control all pages of its origin. On a host of its own, the backend shares nothing.
 * @param url the origin of its own host
 */
export function makeBackendProtection(url: string | undefined): (request: IncomingMessage) => WaypostError | undefined {
  if (url === undefined) {
    return ({ headers }) => (headers['service-worker'] === undefined ? undefined : errors.WP_RUNTIME_SERVICE_WORKER())
  }
  const { host } = new URL(url)
  return ({ headers, url: target = '' }) =>
    headers.host !== host || ownPaths.test(target) ? undefined : errors.WP_RUNTIME_BACKEND_HOST()
}
