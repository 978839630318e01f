import type { onRequestHookHandler } from 'fastify'
import type { Guard } from '../auth/index.ts'
import type { Principal } from '../contract/index.ts'

/**
 * Who may call a route: everyone, or callers whose token has one of the scopes. Without scopes, any valid token is
 * accepted.
 */
export interface RouteAccess {
  readonly public: boolean
  readonly scopes: readonly string[]
}

/**
 * Makes the hook that authorizes requests to a route. A public route accepts all callers and uses a valid token only to
 * identify them.
 */
export function makeAuthorizationHook(guard: Guard, access: RouteAccess): onRequestHookHandler {
  if (access.public) return identifyCaller(guard)
  return (request, _reply, done) => {
    const settle = (principal: Principal) => {
      request.principal = principal
      done()
    }
    // Uses callbacks, because a cached token is checked synchronously; a promise would cost more than the check.
    try {
      const found = guard.authorize(request.headers.authorization, access.scopes)
      if (found instanceof Promise) found.then(settle, done)
      else settle(found)
    } catch (error) {
      done(error as Error)
    }
  }
}

function identifyCaller(guard: Guard): onRequestHookHandler {
  return (request, _reply, done) => {
    const { authorization } = request.headers
    if (authorization === undefined) return done()
    const authorize = async () => guard.authorize(authorization, [])
    const end = (principal?: Principal) => {
      request.principal = principal
      done()
    }
    authorize().then(end, () => end())
  }
}
