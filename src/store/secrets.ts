import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { sha256 } from '../kit/index.ts'
import { errors } from './errors.ts'

/** Where a sealed value stands: one that is moved to another place does not open. */
export type SealedPlace = SealedColumn & { readonly row: string }

/** What is derived from `WAYPOST_SECRET`: seals for values at rest, and keys for other purposes. */
export interface Secrets {
  /** Encrypts with AES-256-GCM under the newest secret: `v1.KEYID.NONCE.CIPHERTEXT`. */
  seal(text: string, place: SealedPlace): string
  /** Decrypts under whichever of the secrets sealed it. @throws WP_STORE_SEALED */
  unseal(sealed: string, place: SealedPlace): string
  /** Whether a value is sealed under the newest secret. */
  isNewest(sealed: string): boolean
  /** By which a sealed value says which secret sealed it; the newest first. They reveal nothing of the secrets. */
  readonly keyIds: readonly string[]
  /** 32 bytes for a purpose under each secret, the newest first. */
  deriveKeys(purpose: string): readonly Buffer[]
  /** A value to store, by which a different secret is told; it reveals nothing of the secret. */
  readonly checkValue: string
  /** Whether one of the secrets made a stored check value. */
  matches(checkValue: string): boolean
}

/** @param text one secret, or `new,old` while it changes. @throws WP_STORE_SECRET_SHORT */
export function makeSecrets(text: string): Secrets {
  const secrets = text.split(',').map((secret) => secret.trim())
  for (const secret of secrets) if (secret.length < 32) throw errors.WP_STORE_SECRET_SHORT({ length: secret.length })
  const deriveKeys = (purpose: string) => secrets.map((secret) => derive(secret, purpose))
  const sealing = deriveKeys('seal').map((key) => ({ key, id: sha256(key).slice(0, 8) }))
  const checkValues = deriveKeys('check').map((key) => sha256(key))

  return {
    seal: (text, place) => seal(sealing[0]!, text, place),
    unseal(sealed, place) {
      const [version, id] = sealed.split('.')
      const candidate = sealing.find((one) => one.id === id)
      if (version !== 'v1' || candidate === undefined) throw errors.WP_STORE_SEALED()
      return unseal(candidate.key, sealed, place)
    },
    isNewest: (sealed) => sealed.split('.')[1] === sealing[0]!.id,
    keyIds: sealing.map(({ id }) => id),
    deriveKeys,
    checkValue: checkValues[0]!,
    matches: (value) => checkValues.includes(value),
  }
}

const tagBytes = 16

function derive(secret: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, 'waypost', purpose, 32))
}

function seal(using: { key: Buffer; id: string }, text: string, place: SealedPlace): string {
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', using.key, nonce).setAAD(additionalData(using.id, place))
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
  return ['v1', using.id, nonce.toString('base64url'), body.toString('base64url')].join('.')
}

function unseal(key: Buffer, sealed: string, place: SealedPlace): string {
  const [, id = '', nonce = '', text = ''] = sealed.split('.')
  try {
    const body = Buffer.from(text, 'base64url')
    // The length is named because Node takes shorter tags too, which are quickly guessed.
    const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(nonce, 'base64url'), { authTagLength: tagBytes })
      .setAAD(additionalData(id, place))
      .setAuthTag(body.subarray(-tagBytes))
    return Buffer.concat([decipher.update(body.subarray(0, -tagBytes)), decipher.final()]).toString('utf8')
  } catch (cause) {
    throw errors.WP_STORE_SEALED({}, { cause })
  }
}

function additionalData(keyId: string, place: SealedPlace): Buffer {
  return Buffer.from(JSON.stringify([keyId, place.table, place.row, place.column]))
}

/** Every column that holds sealed values, in tables whose rows have an `id`: what `secret:rotate` seals again. */
export const sealedColumns = [
  { table: 'waypost_key', column: 'private_jwk' },
  { table: 'waypost_subscription', column: 'secret' },
  { table: 'waypost_subscription', column: 'previous_secrets' },
] as const

/** One of them; nothing is sealed for another place. */
export type SealedColumn = (typeof sealedColumns)[number]
