import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { SignJWT, type JWTHeaderParameters } from 'jose'
import type { KeyRing } from '../../src/auth/index.ts'
import { makeUuid } from '../../src/kit/index.ts'
import { issuer } from '../support/server.ts'
import type { World } from './world.ts'

/** A token that differs from a valid one. */
export interface Forgery {
  readonly name: string
  /** Changes to the claims of a valid token; undefined removes a claim. */
  readonly header?: Readonly<Record<string, unknown>>
  readonly claims?: Readonly<Record<string, unknown>>
  readonly key?: KeyObject
}

const strangers = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const others = generateKeyPairSync('ec', { namedCurve: 'P-384' })
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const key = strangers.privateKey
const now = () => Math.floor(Date.now() / 1000)

/** Tokens that private routes must reject, each with one defect. */
export const forgeries: readonly Forgery[] = [
  { name: 'signed by somebody else', key },
  { name: 'signed by a key that it brings along', key, header: { jwk: strangers.publicKey.export({ format: 'jwk' }) } },
  { name: 'whose key is to be fetched as a set', key, header: { jku: 'http://127.0.0.1:1/jwks.json' } },
  { name: 'whose key is to be fetched as a certificate', key, header: { x5u: 'http://127.0.0.1:1/chain.pem' } },
  { name: 'that brings a certificate along', key, header: { x5c: ['MIIB'] } },
  { name: 'signed by a key that nobody knows', key, header: { kid: 'key_000000000000' } },
  { name: 'with a key id that is a path', header: { kid: '../../../dev/null' } },
  { name: 'with a key id that is a list', header: { kid: ['key_000000000000'] } },
  { name: 'with a key id that no text can be made of', header: { kid: { toString: 1 } } },
  { name: 'without a key id', header: { kid: undefined } },
  { name: 'of another issuer', claims: { iss: 'https://evil.example' } },
  { name: 'without an issuer', claims: { iss: undefined } },
  { name: 'of an issuer that only begins like ours', claims: { iss: `${issuer}.evil.example` } },
  { name: 'for another audience', claims: { aud: 'https://other.example' } },
  { name: 'without an audience', claims: { aud: undefined } },
  { name: 'for several audiences of which none is ours', claims: { aud: ['https://other.example', 'api'] } },
  { name: 'of another type', header: { typ: 'JWT' } },
  { name: 'without a type', header: { typ: undefined } },
  { name: 'without an end', claims: { exp: undefined } },
  { name: 'with an end that is no number', claims: { exp: '9999999999' } },
  { name: 'without a beginning', claims: { iat: undefined } },
  { name: 'without a user', claims: { sub: undefined } },
  { name: 'without a client', claims: { client_id: undefined } },
  { name: 'without an id', claims: { jti: undefined } },
  { name: 'that has expired', claims: { exp: now() - 1 } },
  { name: 'that is not valid yet', claims: { nbf: now() + 86_400 } },
  { name: 'that was never stored', claims: { jti: makeUuid() } },
  { name: 'with an id that no database can hold', claims: { jti: '\0' } },
  { name: 'with an id that is no text', claims: { jti: { a: 1 } } },
  { name: 'signed with RSA', header: { alg: 'RS256' }, key: rsa.privateKey },
  { name: 'signed with another curve', header: { alg: 'ES384' }, key: others.privateKey },
]

export interface Forger {
  readonly world: World
  readonly keys: KeyRing
  /** The scopes in the token's row. */
  readonly scope?: string
}

/** Makes a token of ann with a row in System, valid except for what is forged. */
export async function forge(forger: Forger, { header = {}, claims = {}, key: signingKey }: Forgery): Promise<string> {
  const { world, keys, scope = 'todo' } = forger
  const jti = makeUuid()
  const later = Date.now() + 3_600_000
  const row = { jti, user_id: world.annId, client_id: world.app.id, family_id: null, scope, created_at: 0 }
  await world.system.db
    .insertInto('waypost_token')
    .values({ ...row, expires_at: later, revoked_at: null })
    .execute()
  const good = { client_id: world.app.id, scope, iss: issuer, aud: issuer, sub: world.annId, jti }
  const all = { ...good, iat: now(), exp: Math.floor(later / 1000), ...claims }
  const protectedHeader = { alg: 'ES256', typ: 'at+jwt', kid: keys.signer.kid, ...header } as JWTHeaderParameters
  for (;;) {
    const token = await new SignJWT(all).setProtectedHeader(protectedHeader).sign(signingKey ?? keys.signer.key)
    // A signature of ECDSA is random. Half of them have the larger S, which is rejected for that alone.
    const signature = Buffer.from(token.slice(token.lastIndexOf('.') + 1), 'base64url')
    if (signature.length !== 64 || signature[32]! < 0x7f) return token
  }
}
