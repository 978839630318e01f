import type { KnownClient } from '../account/client-lookup.ts'
import type { RequestedScopes } from '../account/scopes.ts'
import type { IssuedTokens, TokenIssuer } from '../token/tokens.ts'
import type { Form } from './client-authentication.ts'

/** A token request whose client has authenticated and may use the grant. */
export interface GrantRequest {
  readonly client: KnownClient
  readonly form: Form
  readonly requested: RequestedScopes | undefined
  /** Where the request came from. */
  readonly address: string
}

/** Turns a token request into tokens. @throws OAuthError */
export type Grant = (issuer: TokenIssuer, request: GrantRequest) => Promise<IssuedTokens>
