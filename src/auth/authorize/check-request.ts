import { OAuthError } from '../errors.ts'
import { assertResources } from '../endpoint/oauth-request.ts'
import { parseScopes, type RequestedScopes } from '../account/scopes.ts'
import type { RedirectableRequest } from './resolve-redirect.ts'
import type { QueryParameters } from './query-parameters.ts'

/** An authorization request that is valid apart from its user. */
export interface CheckedRequest extends RedirectableRequest {
  /** The S256 challenge of PKCE. */
  readonly challenge: string
  /** Undefined requests all scopes that client and user share. */
  readonly requested: RequestedScopes | undefined
  readonly prompts: ReadonlySet<Prompt>
  /** Maximum time since the password was entered. */
  readonly maxAgeMs: number | undefined
}

/** The pages to show (OpenID Connect Core §3.1.2.1); `none` shows no page. */
export type Prompt = 'none' | 'login' | 'consent' | 'select_account'

/** The longest query that fits into a form together with a name and a password. */
const maxQueryLength = 8192

const checks: readonly ((request: RedirectableRequest, issuer: string) => void)[] = [
  checkRepeated,
  checkLength,
  checkRequestObject,
  checkResponseType,
  checkResponseMode,
  checkGrant,
  checkResource,
  checkChallengeMethod,
]

/** Checks everything that does not depend on the user. @throws OAuthError, to send to the client */
export function checkRequest(request: RedirectableRequest, issuer: string): CheckedRequest {
  for (const check of checks) check(request, issuer)
  return {
    ...request,
    challenge: readChallenge(request.parameters),
    requested: readScopes(request.parameters),
    prompts: readPrompts(request.parameters),
    maxAgeMs: readMaxAge(request.parameters),
  }
}

/** RFC 6749 §3.1. Only the parameter `resource` may be repeated (RFC 8707). */
function checkRepeated({ parameters }: RedirectableRequest): void {
  const name = [...parameters.repeated].find((one) => one !== 'resource')
  if (name !== undefined) throw new OAuthError('invalid_request', `The parameter "${name}" is repeated`)
}

function checkLength({ query }: RedirectableRequest): void {
  if (encodeURIComponent(query).length > maxQueryLength)
    throw new OAuthError(
      'invalid_request',
      `The request is longer than ${maxQueryLength} characters when escaped twice`,
    )
}

/** The errors are defined in OpenID Connect Core §6.1 and §6.2. */
function checkRequestObject({ parameters }: RedirectableRequest): void {
  if (parameters.text('request') !== undefined)
    throw new OAuthError('request_not_supported', 'Request objects are not supported: send the parameters in the query')
  if (parameters.text('request_uri') !== undefined)
    throw new OAuthError('request_uri_not_supported', 'request_uri is not supported: send the parameters in the query')
}

function checkResponseType({ parameters }: RedirectableRequest): void {
  const type = parameters.text('response_type')
  if (type === undefined) throw new OAuthError('invalid_request', 'response_type is missing')
  if (type !== 'code') throw new OAuthError('unsupported_response_type', 'response_type must be code')
}

function checkResponseMode({ parameters }: RedirectableRequest): void {
  const mode = parameters.text('response_mode')
  if (mode !== undefined && mode !== 'query') throw new OAuthError('invalid_request', 'response_mode must be query')
}

function checkGrant({ client }: RedirectableRequest): void {
  if (!client.grants.includes('authorization_code'))
    throw new OAuthError('unauthorized_client', 'This client is not allowed to use authorization_code')
}

function checkResource({ parameters }: RedirectableRequest, issuer: string): void {
  assertResources(parameters.all('resource'), issuer)
}

/**
 * Without a method, the default would be `plain` (RFC 7636 §4.3), with which anyone who sees the request could redeem
 * the code.
 */
function checkChallengeMethod({ parameters }: RedirectableRequest): void {
  if (parameters.text('code_challenge') === undefined)
    throw new OAuthError('invalid_request', 'PKCE is required: code_challenge is missing')
  if (parameters.text('code_challenge_method') !== 'S256')
    throw new OAuthError('invalid_request', 'code_challenge_method must be S256')
}

function readChallenge(parameters: QueryParameters): string {
  const challenge = parameters.text('code_challenge') ?? ''
  if (/^[\w-]{43}$/.test(challenge)) return challenge
  throw new OAuthError('invalid_request', 'code_challenge must be a base64url-encoded SHA-256 hash (43 characters)')
}

function readScopes(parameters: QueryParameters): RequestedScopes | undefined {
  const text = parameters.text('scope')
  if (text === undefined) return undefined
  const requested = parseScopes(text)
  if (requested === undefined) throw new OAuthError('invalid_scope', 'A scope contains a character that is not allowed')
  return requested.scopes.length === 0 ? undefined : requested
}

const knownPrompts: readonly string[] = ['none', 'login', 'consent', 'select_account'] satisfies readonly Prompt[]

function readPrompts(parameters: QueryParameters): ReadonlySet<Prompt> {
  const prompts = (parameters.text('prompt') ?? '').split(' ').filter((prompt) => prompt !== '')
  const unknown = prompts.find((prompt) => !knownPrompts.includes(prompt))
  if (unknown !== undefined) throw new OAuthError('invalid_request', `Unknown prompt "${unknown}"`)
  const each = new Set(prompts as Prompt[])
  if (each.has('none') && each.size > 1)
    throw new OAuthError('invalid_request', 'prompt=none cannot be combined with other values')
  return each
}

function readMaxAge(parameters: QueryParameters): number | undefined {
  const text = parameters.text('max_age')
  if (text === undefined) return undefined
  if (!/^\d{1,10}$/.test(text)) throw new OAuthError('invalid_request', 'max_age must be a number of seconds')
  return Number(text) * 1000
}
