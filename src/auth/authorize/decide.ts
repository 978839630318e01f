import { OAuthError } from '../errors.ts'
import { intersect, isBackendScope } from '../account/scopes.ts'
import type { TokenIssuer } from '../token/tokens.ts'
import type { CheckedRequest } from './check-request.ts'
import { needsConsent } from './consent.ts'
import { loadGrantableScopes, mayAskFor } from '../account/clients.ts'
import type { Session } from './session.ts'

/** What comes next: a page, or a code. */
export type Step =
  | { readonly next: 'login'; readonly reason?: string }
  | { readonly next: 'consent' | 'code'; readonly session: Session; readonly scopes: readonly string[] }

/** How long after a password was entered a code may carry a scope of administration. */
const freshMs = 15 * 60_000

/** Decides what has to happen before a request gets its code. @throws OAuthError also where nothing may be shown */
export async function decide(
  issuer: Pick<TokenIssuer, 'system' | 'clock'>,
  request: CheckedRequest,
  session: Session | undefined,
): Promise<Step> {
  const step = await findStep(issuer, request, session)
  if (step.next === 'code' || !request.prompts.has('none')) return step
  if (step.next === 'login') throw new OAuthError('login_required', 'The user has to log in')
  throw new OAuthError('consent_required', 'The user has to be asked')
}

async function findStep(
  { system, clock }: Pick<TokenIssuer, 'system' | 'clock'>,
  request: CheckedRequest,
  session: Session | undefined,
): Promise<Step> {
  const { client, requested, prompts, maxAgeMs } = request
  if (!(await mayAskFor(system, client, requested?.scopes)))
    throw new OAuthError('invalid_scope', 'None of these scopes belongs to the client')
  if (session === undefined) return { next: 'login' }
  const age = clock.now() - session.passwordAt
  if (prompts.has('login') || prompts.has('select_account') || age > (maxAgeMs ?? Infinity))
    return { next: 'login', reason: `${client.name} asks you to enter your password again.` }

  const grantable = await loadGrantableScopes(system, client, session.userId)
  const scopes = requested === undefined ? grantable : intersect(requested.scopes, grantable)
  if (scopes.length === 0)
    throw new OAuthError('invalid_scope', 'None of these scopes belongs to the client and the user')
  if (scopes.some(isBackendScope) && age >= freshMs)
    return { next: 'login', reason: 'This gives control of the server: enter your password again.' }
  const asks = await needsConsent(system, request, { userId: session.userId, scopes })
  return { next: asks ? 'consent' : 'code', session, scopes }
}
