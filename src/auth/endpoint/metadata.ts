import type { FastifyInstance } from 'fastify'
import { consumerScope, isBackendScope } from '../account/scopes.ts'
import { grants } from './grants.ts'
import { mountCrossOrigin } from './oauth-responses.ts'
import { wellKnown } from '../refusals.ts'
import { makePublishedKeys } from '../token/keys.ts'
import type { TokenIssuer } from '../token/tokens.ts'

/** How every client may authenticate; one without a secret by `none`. */
const withSecret = ['client_secret_basic', 'client_secret_post']

/** What a client has to know of the authorization server (RFC 8414 §2). */
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

/** What a client has to know of the routes (RFC 9728 §2): they are one resource, the `aud` of every token. */
function describeProtectedResource(issuer: string, scopes: readonly string[]) {
  return {
    resource: issuer,
    authorization_servers: [issuer],
    scopes_supported: scopes,
    bearer_methods_supported: ['header'],
  }
}

/** A rotated key signs at once, so nobody may go by the keys of an hour ago; the rest changes with a new version. */
const keepSeconds = { keys: 10, metadata: 300 }

export interface MetadataSources {
  readonly issuer: TokenIssuer
  /** The scopes of the release that is served, by name. */
  scopes(): Readonly<Record<string, unknown>>
}

const documents = {
  'oauth-authorization-server': describeAuthorizationServer,
  'oauth-protected-resource': describeProtectedResource,
}

/** Metadata and keys, at their well-known places: nothing in them comes from the request. */
export function mountMetadata(
  app: FastifyInstance,
  { issuer: { issuer, system, clock }, scopes }: MetadataSources,
): void {
  const publishedKeys = makePublishedKeys(system, clock)
  // Those of administration are never for clients of others.
  const offered = () => [...new Set([consumerScope, ...Object.keys(scopes())])].filter((one) => !isBackendScope(one))
  for (const [name, describe] of Object.entries(documents)) {
    // With the issuer's path, where clients look for it, and without, for a proxy that takes the path away.
    const places = new Set([new URL(wellKnown(issuer, name)).pathname, `/.well-known/${name}`])
    for (const url of places) {
      mountCrossOrigin(app, {
        method: 'GET',
        url,
        handler: async (_request, reply) =>
          reply
            .header('cache-control', `public, max-age=${keepSeconds.metadata}`)
            .send(describe(issuer, offered().toSorted())),
      })
    }
  }
  mountCrossOrigin(app, {
    method: 'GET',
    url: '/.well-known/jwks.json',
    handler: async (_request, reply) => {
      const keys = await publishedKeys()
      return reply.header('cache-control', `public, max-age=${keepSeconds.keys}`).send({ keys })
    },
  })
}
