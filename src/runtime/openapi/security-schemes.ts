import type { Api } from './api.ts'

/**
 * How a caller proves itself: by a token of one of the flows of OAuth2, or by any token. The endpoints are where the API
 * is; without an address of it they are relative, as the document's server is.
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
