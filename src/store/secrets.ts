import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { sha256 } from '../kit/index.ts'
import { errors } from './errors.ts'

/** The location of an encrypted value. It cannot be decrypted at another location. */
export type SealedLocation = SealedColumn & { readonly row: string }

/** Functions based on `WAYPOST_SECRET`: encryption at rest, and key derivation for other purposes. */
export interface Secrets {
  /** Encrypts with AES-256-GCM under the newest secret: `v1.KEYID.NONCE.CIPHERTEXT`. */
  seal(text: string, location: SealedLocation): string
  /**
   * Decrypts with the secret that encrypted the value.
   * @throws WP_STORE_SEALED
   */
  unseal(sealed: string, location: SealedLocation): string
  /** Whether a value is encrypted under the newest secret. */
  isNewest(sealed: string): boolean
  /** Identifies the secret of an encrypted value, newest first. Reveals nothing about the secrets. */
  readonly keyIds: readonly string[]
  /** Derives 32 bytes for a purpose from each secret, newest first. */
  deriveKeys(purpose: string): readonly Buffer[]
  /** A value to store that detects a different secret. Reveals nothing about the secret. */
  readonly checkValue: string
  /** Whether a stored check value belongs to one of the secrets. */
  matches(checkValue: string): boolean
}

/**
 * @param text one secret, or `new,old` while it changes
 * @throws WP_STORE_SECRET_SHORT
 */
export function makeSecrets(text: string): Secrets {
  const secrets = text.split(',').map((secret) => secret.trim())
  for (const secret of secrets) if (secret.length < 32) throw errors.WP_STORE_SECRET_SHORT({ length: secret.length })
  const deriveKeys = (purpose: string) => secrets.map((secret) => derive(secret, purpose))
  const sealing = deriveKeys('seal').map((key) => ({ key, id: sha256(key).slice(0, 8) }))
  const checkValues = deriveKeys('check').map((key) => sha256(key))

  return {
    seal: (text, location) => seal(sealing[0]!, text, location),
    unseal(sealed, location) {
      const [version, id] = sealed.split('.')
      const candidate = sealing.find((one) => one.id === id)
      if (version !== 'v1' || candidate === undefined) throw errors.WP_STORE_SEALED()
      return unseal(candidate.key, sealed, location)
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

function seal(using: { key: Buffer; id: string }, text: string, location: SealedLocation): string {
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', using.key, nonce).setAAD(additionalData(using.id, location))
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
  return ['v1', using.id, nonce.toString('base64url'), body.toString('base64url')].join('.')
}

function unseal(key: Buffer, sealed: string, location: SealedLocation): string {
  const [, id = '', nonce = '', text = ''] = sealed.split('.')
  try {
    const body = Buffer.from(text, 'base64url')
    // Set the length explicitly: Node also accepts shorter tags, which are easily guessed.
    const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(nonce, 'base64url'), { authTagLength: tagBytes })
      .setAAD(additionalData(id, location))
      .setAuthTag(body.subarray(-tagBytes))
    return Buffer.concat([decipher.update(body.subarray(0, -tagBytes)), decipher.final()]).toString('utf8')
  } catch (cause) {
    throw errors.WP_STORE_SEALED({}, { cause })
  }
}

function additionalData(keyId: string, location: SealedLocation): Buffer {
  return Buffer.from(JSON.stringify([keyId, location.table, location.row, location.column]))
}

/** All columns with encrypted values, which `secret:rotate` re-encrypts. Their tables have an `id`. */
export const sealedColumns = [
  { table: 'waypost_key', column: 'private_jwk' },
  { table: 'waypost_subscription', column: 'secret' },
  { table: 'waypost_subscription', column: 'previous_secrets' },
  { table: 'waypost_variable', column: 'value' },
  { table: 'waypost_draft_variable', column: 'value' },
] as const

/** One of these columns. Nothing else is encrypted. */
export type SealedColumn = (typeof sealedColumns)[number]
