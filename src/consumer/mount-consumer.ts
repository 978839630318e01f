import type { FastifyPluginAsync } from 'fastify'
import { makeLogin } from '../auth/index.ts'
import { mountAccount, mountRegistration, mountGrants, type AccountSources } from './account-endpoints.ts'
import { mountClients } from './client-endpoints.ts'
import { mountLogin } from './login-endpoints.ts'
import { mountTokens } from './token-endpoints.ts'

/** Mounts the endpoints below `/consumer` that concern an account: login, account, clients, grants and tokens. */
export function mountConsumer(options: AccountSources): FastifyPluginAsync {
  return async (app) => {
    await app.register(mountLogin(makeLogin(options.issuer)))
    await app.register(mountRegistration(options.issuer))
    for (const mount of [mountAccount, mountClients, mountGrants, mountTokens]) await app.register(mount(options))
  }
}
