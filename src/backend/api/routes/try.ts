import { Type } from 'typebox'
import { backendClientId } from '../../../auth/index.ts'
import { issueTryToken } from '../../../operate/index.ts'
import { errors } from '../../errors.ts'
import { defineRoute } from '../route.ts'
import { record, text } from '../shapes.ts'

const tryToken = defineRoute({
  name: 'issueTryToken',
  summary: 'A token of the caller without administration scopes, which the pages of the backend use to try routes',
  method: 'POST',
  path: '/token/try',
  scopes: ['backend.read'],
  response: record({ access_token: text, expires_in: Type.Integer(), scopes: Type.Array(text) }),
  async handle({ principal, tokenId, acting }) {
    if (principal.client.id !== backendClientId) throw errors.WP_BACKEND_TRY_CLIENT()
    const { access_token, expires_in, scope } = await issueTryToken(await acting(), {
      user: principal.user.name,
      jti: tokenId,
    })
    return { access_token, expires_in, scopes: scope === '' ? [] : scope.split(' ') }
  },
})

export const tryRoutes = [tryToken] as const
