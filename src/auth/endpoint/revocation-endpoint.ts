import type { FastifyInstance } from 'fastify'
import { revokeByValue } from '../token/revoke.ts'
import type { TokenIssuer } from '../token/tokens.ts'
import { mountForPages } from './mount-for-pages.ts'
import { readOAuthRequest, requireParameter } from './oauth-request.ts'
import { refuseOtherMethods } from './speak-oauth.ts'

const url = '/authorization/revoke'

/** `/authorization/revoke` (RFC 7009). The hint is not needed: no refresh token looks like an access token. */
export function mountRevocation(app: FastifyInstance, issuer: TokenIssuer): void {
  mountForPages(app, {
    method: 'POST',
    url,
    async handler(request) {
      const { form, authenticate } = readOAuthRequest(issuer, request)
      const client = await authenticate()
      await revokeByValue(issuer, client, requireParameter(form, 'token'))
      return {}
    },
  })
  refuseOtherMethods(app, url)
}
