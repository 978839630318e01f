import formbody from '@fastify/formbody'
import type { FastifyPluginAsync } from 'fastify'
import type { Guard } from '../guard.ts'
import { mountIntrospection, mountRevocation, mountToken } from './token-endpoints.ts'
import { mountMetadata, type MetadataSources } from './metadata.ts'
import { configureOAuthResponses } from './oauth-responses.ts'
import { mountWhoami } from './whoami.ts'

const bodyLimit = 16 * 1024

export interface AuthorizationSources extends MetadataSources {
  readonly guard: Guard
}

/** Mounts the OAuth2 endpoints for programs: token, revocation, introspection, whoami and metadata. */
export function mountAuthorization({ guard, ...sources }: AuthorizationSources): FastifyPluginAsync {
  const { issuer } = sources
  return async (app) => {
    await app.register(async (forms) => {
      forms.removeAllContentTypeParsers() // token requests are never JSON
      await forms.register(formbody, { bodyLimit })
      configureOAuthResponses(forms)
      mountToken(forms, issuer)
      mountRevocation(forms, issuer)
      mountIntrospection(forms, issuer)
    })
    mountWhoami(app, issuer, guard)
    mountMetadata(app, sources)
  }
}
