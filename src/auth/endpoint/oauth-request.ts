import type { FastifyRequest } from 'fastify'
import type { KnownClient } from '../account/client-lookup.ts'
import { OAuthError } from '../errors.ts'
import type { Caller } from '../token/caller.ts'
import type { TokenIssuer, IssuedTokens } from '../token/tokens.ts'
import { authenticateClient, readForm, type Form } from './client-authentication.ts'
import type { RequestedScopes } from '../account/scopes.ts'

/** A form that a client sent to an OAuth2 endpoint. */
export interface OAuthRequest {
  readonly form: Form
  /** All values of the parameter `resource`. */
  readonly resources: readonly string[]
  /** Authenticates the client. @throws OAuthError invalid_client, invalid_request */
  authenticate(): Promise<KnownClient>
}

/**
 * Reads a request.
 * @throws OAuthError invalid_request for a repeated parameter, or one that must not be sent in the query string
 */
export function readOAuthRequest(issuer: TokenIssuer, request: FastifyRequest): OAuthRequest {
  assertNoCredentials(request.query)
  const form = readForm(request.body)
  const { resource = [] } = (request.body ?? {}) as { readonly resource?: string | readonly string[] }
  const resources = [resource].flat().filter((one) => one !== '')
  return {
    form,
    resources,
    authenticate: () => authenticateClient(issuer.clients, request.headers.authorization, form),
  }
}

/** Returns a required parameter. @throws OAuthError invalid_request */
export function requireParameter(form: Form, name: string): string {
  const value = form[name]
  if (value === undefined) throw new OAuthError('invalid_request', `${name} is missing`)
  return value
}

/**
 * Checks the requested resources. The issuer is the only resource (RFC 9728); clients that build URLs may append a
 * slash. A token for another resource would not be valid there (RFC 8707 §2).
 * @throws OAuthError invalid_target
 */
export function assertResources(resources: readonly string[], issuer: string): void {
  const unknown = resources.find((resource) => resource !== issuer && resource !== `${issuer}/`)
  if (unknown !== undefined) throw new OAuthError('invalid_target', `The only resource is ${issuer}, not ${unknown}`)
}

const onlyInBody = [
  'grant_type',
  'client_id',
  'client_secret',
  'refresh_token',
  'token',
  'username',
  'password',
  'code',
  'code_verifier',
]

/** Query strings end up in logs (RFC 6749 §2.3.1). */
function assertNoCredentials(query: unknown): void {
  const misplaced = onlyInBody.find((name) => Object.hasOwn(query as object, name))
  if (misplaced !== undefined)
    throw new OAuthError('invalid_request', `${misplaced} must not be sent in the query string`)
}

/** A token request of an authenticated client that may use the grant. */
export interface GrantRequest {
  readonly client: KnownClient
  readonly form: Form
  readonly requested: RequestedScopes | undefined
  /** The address of the caller. */
  readonly address: string
  readonly caller: Caller
}

/** Exchanges a token request for tokens. @throws OAuthError */
export type Grant = (issuer: TokenIssuer, request: GrantRequest) => Promise<IssuedTokens>
