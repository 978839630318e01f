import type { Api } from './api.ts'

/**
 * Makes the security schemes: tokens of the OAuth2 flows, or any bearer token. Without `serverUrl`, the endpoint URLs
 * are relative, like the document's server.
 */
export function makeSecuritySchemes({ scopes }: Api, serverUrl = ''): object {
  const tokenUrl = `${serverUrl}/authorization/token`
  const described = Object.entries(scopes).map(([name, { description }]) => [name, description ?? `The scope ${name}`])
  const shared = { tokenUrl, refreshUrl: tokenUrl, scopes: Object.fromEntries(described) }
  return {
    oauth2: {
      type: 'oauth2',
      description:
        'Authorization code with PKCE (S256) for applications that act for a user, ' +
        'client credentials for clients that act for their owner.',
      flows: {
        authorizationCode: { authorizationUrl: `${serverUrl}/authorization/authorize`, ...shared },
        clientCredentials: shared,
      },
    },
    bearer: {
      type: 'http',
      scheme: 'bearer',
      bearerFormat: 'JWT',
      description: 'An access token of a user or a client',
    },
  }
}
