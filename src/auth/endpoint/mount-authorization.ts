import formbody from '@fastify/formbody'
import type { FastifyPluginAsync } from 'fastify'
import type { Guard } from '../guard.ts'
import { mountIntrospection, mountRevocation, mountToken } from './token-endpoints.ts'
import { mountMetadata, type MetadataSources } from './metadata.ts'
import { answerAsOAuth } from './oauth-responses.ts'
import { mountWhoami } from './whoami.ts'

const bodyLimit = 16 * 1024

export interface AuthorizationSources extends MetadataSources {
  readonly guard: Guard
}

/** The endpoints of OAuth2 that programs call: tokens, what becomes of them, who one is, and where all of it stands. */
export function mountAuthorization({ guard, ...sources }: AuthorizationSources): FastifyPluginAsync {
  const { issuer } = sources
  return async (app) => {
    await app.register(async (forms) => {
      forms.removeAllContentTypeParsers() // a JSON body is no token request
      await forms.register(formbody, { bodyLimit })
      answerAsOAuth(forms)
      mountToken(forms, issuer)
      mountRevocation(forms, issuer)
      mountIntrospection(forms, issuer)
    })
    mountWhoami(app, issuer, guard)
    mountMetadata(app, sources)
  }
}
