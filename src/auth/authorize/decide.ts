import { OAuthError } from '../errors.ts'
import { intersect, isBackendScope } from '../account/scopes.ts'
import type { TokenIssuer } from '../token/tokens.ts'
import type { CheckedRequest } from './check-request.ts'
import { needsConsent } from './consent.ts'
import { backendClientId, couldSucceed, loadGrantableScopes } from '../account/clients.ts'
import { maxPasswordAgeMs } from '../access/step-up.ts'
import type { Session } from './session.ts'

/** The next step: a page or a code. */
export type Step =
  | { readonly next: 'login'; readonly reason?: string }
  | { readonly next: 'consent' | 'code'; readonly session: Session; readonly scopes: readonly string[] }

/**
 * Decides what must happen before a request gets its code.
 * @throws OAuthError, also if a page is needed but none may be shown
 */
export async function decideStep(
  issuer: Pick<TokenIssuer, 'system' | 'clock' | 'settings'>,
  request: CheckedRequest,
  session: Session | undefined,
): Promise<Step> {
  const step = await findStep(issuer, request, session)
  if (step.next === 'code' || !request.prompts.has('none')) return step
  if (step.next === 'login') throw new OAuthError('login_required', 'The user must log in')
  throw new OAuthError('consent_required', 'The user must give consent')
}

async function findStep(
  { system, clock, settings }: Pick<TokenIssuer, 'system' | 'clock' | 'settings'>,
  request: CheckedRequest,
  session: Session | undefined,
): Promise<Step> {
  const { client, requested, prompts, maxAgeMs } = request
  if (!(await couldSucceed(system, client, requested?.scopes)))
    throw new OAuthError('invalid_scope', 'The client has none of these scopes')
  if (session === undefined) return { next: 'login' }
  const age = clock.now() - session.passwordAt
  if (prompts.has('login') || prompts.has('select_account') || age > (maxAgeMs ?? Infinity))
    return { next: 'login', reason: `${client.name} requires you to enter your password again.` }

  const grantable = await loadGrantableScopes(system, client, session.userId)
  const scopes = requested === undefined ? grantable : intersect(requested.scopes, grantable)
  if (scopes.length === 0) throw new OAuthError('invalid_scope', 'The client and the user share none of these scopes')
  const isBackend = client.id === backendClientId
  if (isBackend && age >= settings().backend_session)
    return { next: 'login', reason: 'Your session has expired. Enter your password again to continue.' }
  if (!isBackend && scopes.some(isBackendScope) && age >= maxPasswordAgeMs)
    return { next: 'login', reason: 'This grants control of the server. Enter your password again to continue.' }
  const asks = await needsConsent(system, request, { userId: session.userId, scopes })
  return { next: asks ? 'consent' : 'code', session, scopes }
}
