import type { FastifyPluginAsync } from 'fastify'
import { Type, type Static } from 'typebox'
import { OAuthError, makeTokenResponse, maxPasswordLength, type Login } from '../auth/index.ts'
import { limitBodies, maxAnonymousBodyBytes } from './callers.ts'
import { errors } from './errors.ts'

const LoginBody = Type.Object({
  username: Type.String({ minLength: 1, maxLength: 64 }),
  password: Type.String({ minLength: 1, maxLength: maxPasswordLength }),
})
const RenewBody = Type.Object({ refresh_token: Type.String({ minLength: 1, maxLength: 512 }) })

/**
 * Mounts `POST /consumer/login` and `PUT /consumer/login`, which issue tokens for users without their own OAuth2
 * client.
 */
export function mountLogin(login: Login): FastifyPluginAsync {
  return async (app) => {
    limitBodies(app, maxAnonymousBodyBytes)
    app.addHook('onSend', async (_request, reply) => {
      reply.header('cache-control', 'no-store')
    })
    app.post<{ Body: Static<typeof LoginBody> }>(
      '/consumer/login',
      { schema: { body: LoginBody } },
      async (request) => {
        const { username, password } = request.body
        return makeLoginResponse(await login.logIn({ name: username, password, address: request.ip }))
      },
    )
    app.put<{ Body: Static<typeof RenewBody> }>('/consumer/login', { schema: { body: RenewBody } }, async (request) => {
      try {
        return makeLoginResponse(await login.renew(request.body.refresh_token, request))
      } catch (error) {
        if (error instanceof OAuthError) throw errors.WP_CONSUMER_REFRESH({ reason: error.message }, { cause: error })
        throw error
      }
    })
  }
}

function makeLoginResponse(issued: Parameters<typeof makeTokenResponse>[0]) {
  const { access_token: token, ...rest } = makeTokenResponse(issued, ' ')
  return { token, ...rest }
}
