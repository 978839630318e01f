import type { FastifyInstance } from 'fastify'
import { consumerScope, isBackendScope } from '../account/scopes.ts'
import { grants } from './grants.ts'
import { mountCrossOrigin } from './oauth-responses.ts'
import { wellKnown } from '../challenge-errors.ts'
import { makePublishedKeys } from '../token/keys.ts'
import type { TokenIssuer } from '../token/tokens.ts'

/** The authentication methods of clients with a secret. Clients without one use `none`. */
const withSecret = ['client_secret_basic', 'client_secret_post']

/** Describes the authorization server to clients (RFC 8414 §2). */
function describeAuthorizationServer(issuer: string, scopes: readonly string[]) {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorization/authorize`,
    token_endpoint: `${issuer}/authorization/token`,
    jwks_uri: `${issuer}/.well-known/jwks.json`,
    revocation_endpoint: `${issuer}/authorization/revoke`,
    introspection_endpoint: `${issuer}/authorization/introspect`,
    scopes_supported: scopes,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: [...grants.keys()],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true, // RFC 9207
    token_endpoint_auth_methods_supported: [...withSecret, 'none'],
    revocation_endpoint_auth_methods_supported: [...withSecret, 'none'],
    introspection_endpoint_auth_methods_supported: withSecret,
  }
}

/** Describes the routes to clients (RFC 9728 §2). All routes are one resource, the `aud` of every token. */
function describeProtectedResource(issuer: string, scopes: readonly string[]) {
  return {
    resource: issuer,
    authorization_servers: [issuer],
    scopes_supported: scopes,
    bearer_methods_supported: ['header'],
  }
}

/** Rotated keys sign immediately, so keys may be cached only briefly. The rest changes only with a new version. */
const maxAgeSeconds = { keys: 10, metadata: 300 }

export interface MetadataSources {
  readonly issuer: TokenIssuer
  /** The scopes of the release being served, by name. */
  scopes(): Readonly<Record<string, unknown>>
}

const documents = {
  'oauth-authorization-server': describeAuthorizationServer,
  'oauth-protected-resource': describeProtectedResource,
}

/** Mounts metadata and keys at their well-known URLs. Nothing in them depends on the request. */
export function mountMetadata(
  app: FastifyInstance,
  { issuer: { issuer, system, clock }, scopes }: MetadataSources,
): void {
  const publishedKeys = makePublishedKeys(system, clock)
  // Scopes of administration are never offered to third-party clients.
  const offeredScopes = () =>
    [...new Set([consumerScope, ...Object.keys(scopes())])].filter((one) => !isBackendScope(one))
  for (const [name, describe] of Object.entries(documents)) {
    // With the issuer's path, as clients request it, and without it, for a proxy that removes the path.
    const places = new Set([new URL(wellKnown(issuer, name)).pathname, `/.well-known/${name}`])
    for (const url of places) {
      mountCrossOrigin(app, {
        method: 'GET',
        url,
        handler: async (_request, reply) =>
          reply
            .header('cache-control', `public, max-age=${maxAgeSeconds.metadata}`)
            .send(describe(issuer, offeredScopes().toSorted())),
      })
    }
  }
  mountCrossOrigin(app, {
    method: 'GET',
    url: '/.well-known/jwks.json',
    handler: async (_request, reply) => {
      const keys = await publishedKeys()
      return reply.header('cache-control', `public, max-age=${maxAgeSeconds.keys}`).send({ keys })
    },
  })
}
