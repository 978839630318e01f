import type { onRequestHookHandler } from 'fastify'
import type { Guard } from '../auth/index.ts'
import type { Principal } from '../contract/index.ts'

/** Who may call a route: everybody, or whoever has a token with one of the scopes; with no scope, any valid token. */
export interface Access {
  readonly public: boolean
  readonly scopes: readonly string[]
}

/** The guard of a route. A public one answers whoever calls; a valid token only tells who it is. */
export function makeAuthorization(guard: Guard, access: Access): onRequestHookHandler {
  if (access.public) return recognize(guard)
  return (request, _reply, done) => {
    const settle = (principal: Principal) => {
      request.principal = principal
      done()
    }
    // Callbacks, because a token that was seen before is judged at once: a promise would cost more than the judgement.
    try {
      const found = guard.authorize(request.headers.authorization, access.scopes)
      if (found instanceof Promise) found.then(settle, done)
      else settle(found)
    } catch (error) {
      done(error as Error)
    }
  }
}

function recognize(guard: Guard): onRequestHookHandler {
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
