// auth: users, scopes, clients, tokens, keys, grants and the OAuth2 endpoints; the guard that protects routes. Access
// tokens are JWTs as in RFC 9068; refresh tokens rotate in families. May import kit, contract and store.
export { readTokenId } from './token/access-token.ts'
export { addClient, findClient, loginClientId, type ClientRecord, type NewClient } from './account/clients.ts'
export { backendClientId, backendRedirectPath, docsClientId, docsRedirectPath } from './account/clients.ts'
export { portalClientId, portalRedirectPath, userClientIds } from './account/clients.ts'
export { errors as authErrors, OAuthError } from './errors.ts'
export { makeGuard, makeScopeCheck, type Guard } from './guard.ts'
export { loadUserPrincipal } from './account/load-principal.ts'
export { openKeyRing, type KeyRing } from './token/keys.ts'
export { makeLogin, type Login } from './access/login.ts'
export { backendScopes, checkScopes, consumerScope, isBackendScope, splitScopes } from './account/scopes.ts'
export { maxTypedLength as maxPasswordLength } from './account/passwords.ts'
export { describeScope } from './authorize/consent.ts'
export { isOnDevice } from './account/redirect-uris.ts'
export { mountPages } from './authorize/mount-pages.ts'
export { mountAuthorization } from './endpoint/mount-authorization.ts'
export { makeTokenResponse } from './endpoint/token-endpoints.ts'
export { pruneKeys, retireOtherKeys, rotateKey, type KeyRotation } from './token/rotate-key.ts'
export { lockTokenFamily } from './token/lock-token.ts'
export { revokeTokens, type Revocation } from './token/revoke.ts'
export { openTokenIssuer } from './token/tokens.ts'
export { hasAdministrator, makeFirstRunCode } from './access/first-run.ts'
export { makeSignInLinks, type SignInLinks } from './access/sign-in-links.ts'
export { assertRecentPassword } from './access/step-up.ts'
export { changePassword } from './self-service/change-password.ts'
export { changeOwnClient, removeOwnClient, replaceClientSecret } from './self-service/change-own-client.ts'
export { changeEmail, changeOwnEmail, loadAccount, type OwnAccount } from './self-service/own-account.ts'
export { addOwnClient, findOwnClient, listOwnClients, type OwnClient } from './self-service/own-clients.ts'
export { checkClientParts } from './self-service/own-clients.ts'
export { listOwnGrants, withdrawGrant } from './self-service/own-grants.ts'
export {
  issueTryToken,
  listOwnTokens,
  revokeOwnToken,
  type OwnToken,
  type TokenCursor,
} from './self-service/own-tokens.ts'
export { registerUser } from './self-service/own-account.ts'
export { recordUses } from './token/token-writer.ts'
export { resolveClient } from './account/client-lookup.ts'
export { resolveUser } from './account/users.ts'
export { countHolders, countScopes, type ScopeCount } from './account/scopes.ts'
export { findUnheldScopes } from './account/scopes.ts'
export {
  countPasswordlessAccess,
  endAccess,
  nothingEnded,
  type EndedAccess,
  type PasswordChangeOptions,
} from './access/end-access.ts'
export {
  revokeAllInBatches,
  revokeRest,
  revokeTokensUntil,
  type AccessSubject,
  type Batches,
  type Leaving,
} from './access/revoke-in-batches.ts'
export { renewClientSecret } from './access/administer.ts'
export { hashNewPassword, storePassword } from './access/administer.ts'
export { setClientParts, setClientStatus, setUserStatus } from './access/administer.ts'
export { issueTokens, type TokenIssuer } from './token/tokens.ts'
export {
  addUser,
  addUserScopes,
  findUser,
  insertUser,
  loadUserScopes,
  lockUser,
  prepareUser,
  removeUserScopes,
  type NewUser,
  type UserRecord,
} from './account/users.ts'
