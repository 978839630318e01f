import formbody from '@fastify/formbody'
import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import { authenticateClient, readForm, type Form } from './client-authentication.ts'
import { loadSharedScopes, type ClientRecord } from './clients.ts'
import { OAuthError } from './errors.ts'
import { refreshTokens } from './refresh.ts'
import { revokeByValue } from './revoke.ts'
import { intersect, parseScopes, type RequestedScopes } from './scopes.ts'
import { issueTokens, type IssuedTokens, type TokenIssuer } from './tokens.ts'
import type { Feed } from '../store/index.ts'

/** `/authorization/token` (RFC 6749 §3.2) and `/authorization/revoke` (RFC 7009). */
export function mountAuthorization(issuer: TokenIssuer, feed: Feed): FastifyPluginAsync {
  return async (app) => {
    app.removeAllContentTypeParsers() // a JSON body is no token request
    await app.register(formbody, { bodyLimit: 16 * 1024 })
    speakOAuth(app)
    app.post('/authorization/token', async (request) => {
      if (hasCredentials(request.query)) throw new OAuthError('invalid_request', 'Credentials do not belong into the query')
      const form = readForm(request.body)
      if (form['grant_type'] === undefined) throw new OAuthError('invalid_request', 'grant_type is missing')
      const grant = grants[form['grant_type']]
      if (grant === undefined) throw new OAuthError('unsupported_grant_type', `There is no grant "${form['grant_type']}"`)
      const client = await authenticateClient(issuer.system, request.headers.authorization, form)
      if (!client.grants.includes(form['grant_type'])) {
        throw new OAuthError('unauthorized_client', `This client may not use ${form['grant_type']}`)
      }
      const requested = readScopeParameter(form)
      const issued = await grant(issuer, { client, form, requested })
      return tokenAnswer(issued, requested?.separator ?? ' ')
    })
    app.post('/authorization/revoke', async (request) => {
      const form = readForm(request.body)
      const client = await authenticateClient(issuer.system, request.headers.authorization, form)
      if (form['token'] === undefined) throw new OAuthError('invalid_request', 'token is missing')
      await revokeByValue(issuer, client, form['token'])
      await feed.catchUp()
      return {}
    })
  }
}

interface GrantRequest {
  readonly client: ClientRecord
  readonly form: Form
  readonly requested: RequestedScopes | undefined
}

const grants: Record<string, ((issuer: TokenIssuer, request: GrantRequest) => Promise<IssuedTokens>) | undefined> = {
  /** RFC 6749 §4.4; acts as the client's owner. */
  async client_credentials(issuer, { client, requested }) {
    if (client.secretHash === null || client.userId === null) {
      throw new OAuthError('unauthorized_client', 'client_credentials is for clients with a secret')
    }
    const owner = await issuer.system.db
      .selectFrom('waypost_user')
      .select('status')
      .where('id', '=', client.userId)
      .executeTakeFirst()
    if (owner?.status !== 'active') throw new OAuthError('unauthorized_client', "The client's owner is disabled")
    const shared = await loadSharedScopes(issuer.system, client.id, client.userId)
    const scopes = requested === undefined ? shared : intersect(requested.scopes, shared)
    if (scopes.length === 0) throw new OAuthError('invalid_scope', 'None of these scopes belongs to the client and its owner')
    const grantee = { userId: client.userId, clientId: client.id, scopes }
    return issueTokens(issuer, grantee, { refresh: client.grants.includes('refresh_token') })
  },
  /** RFC 6749 §6. */
  async refresh_token(issuer, { client, form, requested }) {
    if (form['refresh_token'] === undefined) throw new OAuthError('invalid_request', 'refresh_token is missing')
    return refreshTokens(issuer, { refreshToken: form['refresh_token'], clientId: client.id, scopes: requested?.scopes })
  },
}

function readScopeParameter(form: Form): RequestedScopes | undefined {
  if (form['scope'] === undefined) return undefined
  const requested = parseScopes(form['scope'])
  if (requested === undefined) throw new OAuthError('invalid_scope', 'A scope has a character that no scope may have')
  return requested.scopes.length === 0 ? undefined : requested
}

function hasCredentials(query: unknown): boolean {
  return ['client_id', 'client_secret', 'refresh_token', 'grant_type', 'password'].some((name) => Object.hasOwn(query as object, name))
}

/** RFC 6749 §5.1; scopes are separated as the request separated them. */
export function tokenAnswer(issued: IssuedTokens, separator: string) {
  return {
    access_token: issued.accessToken,
    token_type: 'bearer',
    expires_in: issued.expiresIn,
    ...(issued.refreshToken === undefined ? {} : { refresh_token: issued.refreshToken }),
    scope: issued.scopes.join(separator),
  }
}

/** Answers of OAuth2 endpoints are never cached, and their errors have the form of RFC 6749 §5.2. */
function speakOAuth(app: FastifyInstance): void {
  app.addHook('onSend', async (_request, reply) => {
    reply.header('cache-control', 'no-store').header('pragma', 'no-cache')
  })
  app.setErrorHandler((error: Error & { statusCode?: number }, request, reply) => {
    if (error instanceof OAuthError) {
      return reply.code(error.status).headers(error.headers).send({ error: error.error, error_description: error.message })
    }
    const status = error.statusCode ?? ('status' in error ? Number(error.status) : 500)
    if (status < 500) return reply.code(400).send({ error: 'invalid_request', error_description: formProblem(error, status) })
    request.log.error({ err: error }, 'an authorization request failed')
    return reply.code(status === 503 ? 503 : 500).send({
      error: status === 503 ? 'temporarily_unavailable' : 'server_error',
      error_description: `The server could not answer; request ${request.id}`,
    })
  })
}

function formProblem(error: Error, status: number): string {
  return status === 415 ? 'The body must be application/x-www-form-urlencoded' : error.message
}

