import { generateKeyPair, sign, type JsonWebKey, type KeyObject } from 'node:crypto'
import { promisify } from 'node:util'
import type { Settings } from '../../kit/index.ts'

/** How access tokens are signed (RFC 7518 §3.1). */
export type TokenAlgorithm = Settings['token_algorithm']

interface KeyPair {
  readonly publicKey: KeyObject
  readonly privateKey: KeyObject
}

const makePair = promisify(generateKeyPair)

/** Makes a key pair. In another thread, because an RSA key takes up to a second. */
export function makeKeyPair(algorithm: TokenAlgorithm): Promise<KeyPair> {
  // RFC 7518 §3.3: a key of 2048 bits or larger.
  return algorithm === 'RS256' ? makePair('rsa', { modulusLength: 2048 }) : makePair('ec', { namedCurve: 'P-256' })
}

/** Returns the algorithm of a key. A key has only one, so that a token cannot choose another. */
export function algorithmOf(key: KeyObject): TokenAlgorithm {
  return key.asymmetricKeyType === 'rsa' ? 'RS256' : 'ES256'
}

/** Returns the algorithm of a stored public key. */
export function readAlgorithm(publicJwk: string): TokenAlgorithm {
  return (JSON.parse(publicJwk) as JsonWebKey).kty === 'RSA' ? 'RS256' : 'ES256'
}

const signInThread = promisify<string, Buffer, KeyObject, Buffer>(sign)

/** Signs the encoded header and claims of a token. */
export async function signText(text: string, key: KeyObject): Promise<Buffer> {
  const bytes = Buffer.from(text)
  // An RSA signature takes a millisecond; one of P-256 takes 30 µs, less than passing it to another thread.
  if (algorithmOf(key) === 'RS256') return signInThread('sha256', bytes, key)
  return lowerS(sign('sha256', bytes, { key, dsaEncoding: 'ieee-p1363' }))
}

/** The order of P-256 (NIST SP 800-186), and half of it. */
const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n
const halfOrder = Buffer.from((order >> 1n).toString(16).padStart(64, '0'), 'hex')

/** Whether the second half of an ECDSA signature, S, is the larger one of the two that are valid. */
function isHighS(signature: Buffer): boolean {
  return Buffer.compare(signature.subarray(32), halfOrder) > 0
}

/** Chooses the smaller S of a signature, so that a token has one valid form. */
function lowerS(signature: Buffer): Buffer {
  if (!isHighS(signature)) return signature
  const s = order - BigInt(`0x${signature.toString('hex', 32)}`)
  return Buffer.concat([signature.subarray(0, 32), Buffer.from(s.toString(16).padStart(64, '0'), 'hex')])
}

/**
 * Whether the signature is the only one that the signer writes for this token: without unused bits in the last character
 * (RFC 4648 §3.5), and with the smaller S. Otherwise anyone could make other texts of a valid token. An RSA signature is
 * the only one for its text (RFC 8017 §8.2).
 */
export function isCanonical(token: string, key: KeyObject): boolean {
  const text = token.slice(token.lastIndexOf('.') + 1)
  const signature = Buffer.from(text, 'base64url')
  return signature.toString('base64url') === text && (algorithmOf(key) === 'RS256' || !isHighS(signature))
}
