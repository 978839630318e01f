import type { FastifyContextConfig, FastifyRequest, onRequestHookHandler } from 'fastify'
import type { Manifest, ManifestMethod } from '../release/index.ts'
import { networkOf, withDeadline } from '../kit/index.ts'
import { errors } from './errors.ts'

/**
 * Returns the rate limit of a method for `@fastify/rate-limit`. A named rate is one budget for all routes that use it.
 * Each server counts separately, unless the rate has a connection.
 */
export function rateConfig(manifest: Manifest, method: ManifestMethod): FastifyContextConfig {
  const rate = method.rate === undefined ? undefined : manifest.rates[method.rate]
  if (rate === undefined) return {}
  return {
    rateLimit: {
      max: rate.limit,
      timeWindow: rate.windowMs,
      ...(rate.connection === undefined ? {} : { connection: rate.connection }), // for the store
      hook: 'preParsing', // the caller is known by then, and the body has not been read
      keyGenerator: (request: FastifyRequest) =>
        rate.by === 'principal' && request.principal !== undefined
          ? `${method.rate} user ${request.principal.user.id}`
          : `${method.rate} address ${networkOf(request.ip)}`,
      errorResponseBuilder: (_request, { ttl }) => {
        const seconds = Math.max(1, Math.ceil(ttl / 1000))
        return errors.WP_RUNTIME_RATE(
          { limit: rate.limit, window: rate.windowMs / 1000, seconds },
          { retryAfterSeconds: seconds },
        )
      },
    },
  }
}

/** Sets the `Deprecation` header (RFC 9745), which needs a date. */
export function deprecationHook(deprecated: string | true | undefined): onRequestHookHandler[] {
  if (deprecated === undefined || deprecated === true) return []
  const since = `@${Math.floor(Date.parse(deprecated) / 1000)}`
  return [
    (_request, reply, done) => {
      reply.header('deprecation', since)
      done()
    },
  ]
}

export interface Timeout<Value> {
  readonly timeoutMs: number
  readonly aborting: { abort(): void }
  /** Called with a result that arrives after the timeout. */
  discard(late: Value): void
}

/** Waits for work until the method's timeout. Then aborts the signal. @throws WP_RUNTIME_TIMEOUT */
export async function withTimeout<Value>(
  work: Promise<Value>,
  { timeoutMs, aborting, discard }: Timeout<Value>,
): Promise<Value> {
  return withDeadline(work, timeoutMs, () => {
    aborting.abort()
    work.then(discard, () => undefined)
    throw errors.WP_RUNTIME_TIMEOUT({ seconds: timeoutMs / 1000 }, { retryAfterSeconds: 1 })
  })
}
