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
        'A person allows an application to act for them: authorization code with PKCE, whose method is S256. ' +
        'Or a client asks with its id and secret: client credentials.',
      flows: {
        authorizationCode: { authorizationUrl: `${serverUrl}/authorization/authorize`, ...shared },
        clientCredentials: shared,
      },
    },
    bearer: {
      type: 'http',
      scheme: 'bearer',
      bearerFormat: 'JWT',
      description: 'An access token of a person or of a client',
    },
  }
}
