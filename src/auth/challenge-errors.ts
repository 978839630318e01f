import type { Principal } from '../contract/index.ts'
import { errors } from './errors.ts'

/** Errors of private routes, each with its challenge (RFC 6750 §3, RFC 9728 §5.1). */
export interface ChallengeErrors {
  /** A request without credentials gets no error code (RFC 6750 §3.1). */
  noToken(needed: readonly string[]): Error
  malformed(): Error
  invalid(reason: string, cause?: unknown): Error
  /** @param tokenScopes the scopes of the token; the principal's scopes are those that its user still has */
  missingScope(principal: Principal, tokenScopes: readonly string[], needed: readonly string[]): Error
}

/** @param issuer where clients find the metadata */
export function makeChallengeErrors(issuer: string): ChallengeErrors {
  const metadata = `resource_metadata="${wellKnown(issuer, 'oauth-protected-resource')}"`
  const challenge = (...parameters: readonly string[]) => ({
    'www-authenticate': `Bearer ${['realm="waypost"', ...parameters, metadata].join(', ')}`,
  })
  return {
    noToken(needed) {
      const list = needed.join(' or ')
      return errors.WP_AUTH_NO_TOKEN(
        { need: list === '' ? '' : ` with the scope ${list}` },
        { brief: `no token; requires ${list === '' ? 'a valid token' : `scope ${list}`}`, headers: challenge() },
      )
    },
    malformed: () => errors.WP_AUTH_TOKEN_FORM({}, { headers: challenge('error="invalid_request"') }),
    invalid: (reason, cause) =>
      errors.WP_AUTH_TOKEN(
        { reason },
        { cause, brief: `token ${reason}`, headers: challenge('error="invalid_token"') },
      ),
    missingScope(principal, tokenScopes, needed) {
      const list = needed.join(' or ')
      const headers = challenge('error="insufficient_scope"', `scope="${needed.join(' ')}"`)
      if (needed.some((scope) => tokenScopes.includes(scope))) {
        const { name } = principal.user
        const brief = `${name} lacks the scope ${list}`
        return errors.WP_AUTH_USER_SCOPE({ user: name, needed: list }, { headers, brief })
      }
      const brief = `token lacks the scope ${list}`
      return errors.WP_AUTH_SCOPE({ carried: tokenScopes.join(', ') || 'no scope', needed: list }, { headers, brief })
    },
  }
}

/** Returns the URL of an issuer's metadata document. The issuer's own path comes last (RFC 8414 §3, RFC 9728 §3). */
export function wellKnown(issuer: string, name: string): string {
  const { origin, pathname } = new URL(issuer)
  return `${origin}/.well-known/${name}${pathname.replace(/\/$/, '')}`
}
