// auth: users, scopes, clients, tokens, keys, grants and the endpoints of OAuth2; the guard that protects routes.
// May import kit, contract and store. Access tokens are JWTs after RFC 9068; refresh tokens rotate in families.
export { readTokenId } from './token/access-token.ts'
export { addClient, findClient, loginClientId, type ClientRecord, type NewClient } from './account/clients.ts'
export { docsClientId, docsRedirectPath } from './account/docs-client.ts'
export { errors as authErrors, OAuthError } from './errors.ts'
export { makeGuard, type Guard } from './guard.ts'
export { openKeyRing, type KeyRing } from './token/keys.ts'
export { makeLogin, type Login } from './account/login.ts'
export { backendScopes, checkScopes, consumerScope, isBackendScope } from './account/scopes.ts'
export { mountPages } from './authorize/mount-pages.ts'
export { mountAuthorization } from './endpoint/mount-authorization.ts'
export { tokenAnswer } from './endpoint/token-endpoint.ts'
export { pruneKeys, rotateKey, type KeyRotation } from './token/rotate-key.ts'
export { revokeTokens, type Revocation } from './token/revoke.ts'
export { openTokenIssuer } from './token/open-token-issuer.ts'
export { changePassword } from './account/change-password.ts'
export { changeOwnClient, removeOwnClient, replaceClientSecret } from './account/change-own-client.ts'
export { changeEmail, loadAccount, type OwnAccount } from './account/own-account.ts'
export { addOwnClient, findOwnClient, listOwnClients, type OwnClient } from './account/own-clients.ts'
export { checkClientParts } from './account/own-client-rules.ts'
export { listOwnGrants, withdrawGrant } from './account/own-grants.ts'
export { listOwnTokens, revokeOwnToken, type OwnToken, type TokenCursor } from './account/own-tokens.ts'
export { registerUser } from './account/register-user.ts'
export { writeUses } from './token/write-uses.ts'
export { chooseClient } from './account/choose-client.ts'
export { chooseUser } from './account/choose-user.ts'
export { countScopes } from './account/count-scopes.ts'
export { findUnheldScopes } from './account/find-unheld-scopes.ts'
export { endAccess, nothingEnded, type AccessOf, type EndedAccess, type PasswordEnds } from './account/end-access.ts'
export { listClients, listUsers, type ListedClient, type ListedUser } from './account/list-accounts.ts'
export { renewClientSecret } from './account/renew-client-secret.ts'
export { setPassword } from './account/set-password.ts'
export { setClientStatus, setUserStatus } from './account/set-status.ts'
export { listTokens, type ListedToken } from './token/list-tokens.ts'
export { issueTokens, type TokenIssuer } from './token/tokens.ts'
export {
  addUser,
  addUserScopes,
  findUser,
  loadUserScopes,
  removeUserScopes,
  type NewUser,
  type UserRecord,
} from './account/users.ts'
