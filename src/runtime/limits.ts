import type { FastifyContextConfig, FastifyRequest, onRequestHookHandler } from 'fastify'
import type { Manifest, ManifestMethod } from '../release/index.ts'
import { networkOf, withDeadline } from '../kit/index.ts'
import { errors } from './errors.ts'

/**
 * The rate of a method as `@fastify/rate-limit` takes it. A named rate is one budget for all routes that name it,
 * counted in each server by itself.
 */
export function rateConfig(manifest: Manifest, method: ManifestMethod): FastifyContextConfig {
  const rate = method.rate === undefined ? undefined : manifest.rates[method.rate]
  if (rate === undefined) return {}
  return {
    rateLimit: {
      max: rate.limit,
      timeWindow: rate.windowMs,
      groupId: method.rate!,
      hook: 'preParsing', // the guard has told who calls, and no body was read yet
      keyGenerator: (request: FastifyRequest) =>
        rate.by === 'principal' && request.principal !== undefined
          ? `user ${request.principal.user.id}`
          : `address ${networkOf(request.ip)}`,
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

/** Tells callers since when a route is deprecated (RFC 9745), which needs a date. */
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
  /** Called with what comes too late. */
  discard(late: Value): void
}

/** Waits for work as long as the method's timeout allows; then the signal aborts and the caller is told. */
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
