import { decodeJwt, decodeProtectedHeader, errors as joseErrors, jwtVerify } from 'jose'
import { isUuid, makeUuid, type Clock, type Settings } from '../../kit/index.ts'
import type { KeyRing } from './keys.ts'
import { algorithmOf, isCanonical, signText } from './signing.ts'

/** Signs access tokens. `issuer` is their `iss` and their `aud`. */
export interface TokenSigner {
  readonly keys: KeyRing
  readonly clock: Clock
  readonly issuer: string
}

/** The user and client that a token is issued to. */
export interface Grantee {
  readonly userId: string
  readonly clientId: string
  readonly scopes: readonly string[]
  /** When the password was entered; set for the backend. */
  readonly passwordAt?: number | undefined
}

export interface SignedToken {
  readonly jwt: string
  readonly jti: string
  /** Lifetime in seconds. */
  readonly expiresIn: number
  readonly expiresAt: number
}

/** Reads the id of an access token without verifying it; undefined if the text is not a token. */
export function readTokenId(text: string): string | undefined {
  try {
    const { jti } = decodeJwt(text)
    return jti !== undefined && isUuid(jti) ? jti : undefined
  } catch {
    return undefined
  }
}

/** A signer that knows the algorithm of the active release. */
export interface ChoosingSigner extends TokenSigner {
  settings(): Pick<Settings, 'token_algorithm'>
}

/** Signs an access token (RFC 9068). It is not valid until it has been stored. */
export async function signAccessToken(
  signer: ChoosingSigner,
  grantee: Grantee,
  lifetimeMs: number,
): Promise<SignedToken> {
  const issuedAt = Math.floor(signer.clock.now() / 1000)
  const expiresIn = Math.max(1, Math.floor(lifetimeMs / 1000))
  const jti = makeUuid()
  const { kid, key } = await signer.keys.newest(signer.settings().token_algorithm)
  const header = { alg: algorithmOf(key), typ: 'at+jwt', kid }
  const claims = {
    iss: signer.issuer,
    sub: grantee.userId,
    aud: signer.issuer,
    exp: issuedAt + expiresIn,
    iat: issuedAt,
    jti,
    client_id: grantee.clientId,
    ...(grantee.passwordAt === undefined ? {} : { auth_time: Math.floor(grantee.passwordAt / 1000) }),
    scope: grantee.scopes.join(' '),
  }
  const signed = `${encode(header)}.${encode(claims)}`
  const signature = await signText(signed, key)
  const jwt = `${signed}.${signature.toString('base64url')}`
  return { jwt, jti, expiresIn, expiresAt: (issuedAt + expiresIn) * 1000 }
}

/** Encodes a part of a compact JWS (RFC 7515 §7.1). */
function encode(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url')
}

/** The result of a verification: the token's id, or why it is not valid. */
export type Verification = { readonly jti: string } | { readonly reason: string; readonly cause?: unknown }

/** Verifies an access token as far as possible without System. @throws if a key cannot be looked up */
export async function verifyAccessToken(signer: TokenSigner, token: string): Promise<Verification> {
  const key = await signer.keys.verifier(readKeyId(token))
  if (key === undefined || !isCanonical(token, key)) return { reason: 'is not valid for this server' }
  try {
    const { payload } = await jwtVerify(token, key, {
      algorithms: [algorithmOf(key)],
      typ: 'at+jwt',
      issuer: signer.issuer,
      audience: signer.issuer,
      currentDate: new Date(signer.clock.now()),
      requiredClaims: ['exp', 'iat', 'sub', 'jti', 'client_id'],
    })
    const { jti } = payload
    return typeof jti === 'string' && isUuid(jti) ? { jti } : { reason: 'is not valid for this server' }
  } catch (cause) {
    return { reason: cause instanceof joseErrors.JWTExpired ? 'has expired' : 'is not valid for this server', cause }
  }
}

function readKeyId(token: string): string {
  try {
    const { kid } = decodeProtectedHeader(token) as { kid?: unknown } // the header is not trusted
    return typeof kid === 'string' ? kid : ''
  } catch {
    return ''
  }
}
