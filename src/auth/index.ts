// auth: users, scopes, clients, tokens, keys, grants and the endpoints of OAuth2; the guard that protects routes.
// May import kit, contract and store. Access tokens are JWTs after RFC 9068; refresh tokens rotate in families.
export { readTokenId } from './access-token.ts'
export { addClient, findClient, loginClientId, type ClientRecord, type NewClient } from './clients.ts'
export { errors as authErrors, OAuthError } from './errors.ts'
export { makeGuard, type Guard } from './guard.ts'
export { openKeyRing, type KeyRing } from './keys.ts'
export { makeLogin, type Login } from './login.ts'
export { backendScopes, checkScopes, consumerScope } from './scopes.ts'
export { mountAuthorization, tokenAnswer } from './token-endpoint.ts'
export { revokeTokens, type Revocation } from './revoke.ts'
export { issueTokens, type TokenIssuer } from './tokens.ts'
export {
  addUser,
  addUserScopes,
  findUser,
  loadUserScopes,
  removeUserScopes,
  type NewUser,
  type UserRecord,
} from './users.ts'
