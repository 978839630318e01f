import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyInstance, FastifyRequest, onRequestHookHandler } from 'fastify'
import type { Guard } from '../auth/index.ts'
import type { Principal } from '../contract/index.ts'
import { LeanRequest } from './lean-messages.ts'

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
    const call = takeInternalCall(request.headers)
    const settle = (principal: Principal) => {
      request.principal = principal
      done()
    }
    // Uses callbacks, because a cached token is checked synchronously; a promise would cost more than the check.
    try {
      const found =
        call === undefined
          ? guard.authorize(request.headers.authorization, access.scopes)
          : guard.assertScopes(call.principal, access.scopes)
      if (found instanceof Promise) found.then(settle, done)
      else settle(found)
    } catch (error) {
      done(error as Error)
    }
  }
}

function identifyCaller(guard: Guard): onRequestHookHandler {
  return (request, _reply, done) => {
    const call = takeInternalCall(request.headers)
    if (call?.principal !== undefined) request.principal = call.principal
    const { authorization } = request.headers
    if (call !== undefined || authorization === undefined) return done()
    const authorize = async () => guard.authorize(authorization, [])
    const end = (principal?: Principal) => {
      if (principal !== undefined) request.principal = principal
      done()
    }
    authorize().then(end, () => end())
  }
}

const principalKey = Symbol('principal')
type AuthorizedRequest = FastifyRequest & { [principalKey]: Principal | undefined }

/** Adds `principal` to the requests of an app. Whichever routes set it, their callers may then send the body slowly. */
export function decoratePrincipal(app: FastifyInstance): void {
  app.decorateRequest(principalKey, undefined)
  app.decorateRequest('principal', {
    getter() {
      return (this as AuthorizedRequest)[principalKey]
    },
    setter(principal: Principal | undefined) {
      const { raw } = this
      ;(this as AuthorizedRequest)[principalKey] = principal
      if (principal !== undefined && raw.method !== 'GET' && raw instanceof LeanRequest) raw.isAuthorized = true
    },
  })
}

/** A call of an operation within this process, whose principal was authorized before. */
interface InternalCall {
  readonly principal: Principal | undefined
}

/** Carries the id of a call. Ids are random and valid once, so a caller on the network cannot use the header. */
const internalCallHeader = 'waypost-internal-call'
const internalCalls = new Map<string, InternalCall>()

/** @returns headers that authorize one request of this process as a principal, and a function that withdraws them */
export function allowInternalCall(principal: Principal | undefined) {
  const id = randomUUID()
  internalCalls.set(id, { principal })
  return { headers: { [internalCallHeader]: id }, withdraw: () => void internalCalls.delete(id) }
}

function takeInternalCall(headers: IncomingHttpHeaders): InternalCall | undefined {
  if (internalCalls.size === 0) return undefined
  const id = headers[internalCallHeader]
  if (typeof id !== 'string') return undefined
  const call = internalCalls.get(id)
  internalCalls.delete(id)
  delete headers[internalCallHeader]
  return call
}
