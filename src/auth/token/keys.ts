import { createPrivateKey, createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto'
import type { Secrets, System } from '../../store/index.ts'
import { addKey, privateKeyPlace, findSpentKeys } from './rotate-key.ts'
import type { Clock } from '../../kit/index.ts'

export interface SigningKey {
  readonly kid: string
  readonly key: KeyObject
}

/** The keys that sign and verify access tokens (ES256). */
export interface KeyRing {
  /** The newest key that is known. */
  readonly signer: SigningKey
  /** The key to sign with: the newest one, which is looked for in System while nobody can tell whether it changed. */
  newest(): Promise<SigningKey>
  /** The public key of a `kid`, also of one that signs no more; one that is not known here is looked for in System. */
  verifier(kid: string): Promise<KeyObject | undefined>
  /** Says that the keys in System changed: no key is given from now on before they were read again. */
  markChanged(): void
}

const keyId = /^key_[0-9A-Z]{1,32}$/

/**
 * Loads the signing keys of System, and makes the first one.
 * @param isFresh whether every change so far was told by `markChanged`
 * @throws WP_STORE_SEALED
 */
export async function openKeyRing(
  system: System,
  secrets: Secrets,
  isFresh: () => boolean = () => true,
): Promise<KeyRing> {
  let newestRow: { readonly id: string; readonly private_jwk: string } | undefined
  let signer: SigningKey | undefined
  let verifiers: ReadonlyMap<string, KeyObject> = new Map()

  async function load(): Promise<void> {
    const query = system.guardDb.selectFrom('waypost_key').selectAll() // not behind what actions do
    const rows = await query.orderBy('created_at', 'desc').orderBy('id').execute()
    newestRow = rows.find((row) => row.retired_at === null)
    verifiers = new Map(rows.map((row) => [row.id, verifiers.get(row.id) ?? parsePublicKey(row.public_jwk)]))
  }

  // Only when somebody signs: a server that cannot open a key can verify what others sign with it all the same.
  function openSigner(): SigningKey {
    const { id, private_jwk: sealed } = newestRow!
    if (signer?.kid === id) return signer
    const jwk = JSON.parse(secrets.unseal(sealed, privateKeyPlace(id))) as JsonWebKey
    signer = { kid: id, key: createPrivateKey({ key: jwk, format: 'jwk' }) }
    return signer
  }

  const copy = makeCopy(load)
  await copy.read()
  if (newestRow === undefined) {
    await system.transaction((trx) => addKey(system, trx, secrets))
    await copy.read()
  }
  openSigner()
  return {
    get signer() {
      return openSigner()
    },
    async newest() {
      if (!isFresh()) copy.markChanged()
      await copy.catchUp()
      return openSigner()
    },
    async verifier(kid) {
      if (!keyId.test(kid)) return undefined
      if (!isFresh()) copy.markChanged() // the key may have been withdrawn
      await copy.catchUp()
      if (!verifiers.has(kid)) await copy.readAnew()
      return verifiers.get(kid)
    },
    markChanged() {
      copy.markChanged()
      copy.catchUp().catch(() => undefined) // whoever needs a key tries again
    },
  }
}

/** Keeps a copy of something up to date. One read runs at a time, so that invented key ids never cost many at once. */
function makeCopy(load: () => Promise<void>) {
  let changes = 0
  let changesLoaded = 0
  let running: Promise<void> | undefined

  async function loadCounted(): Promise<void> {
    const changesBefore = changes
    await load()
    changesLoaded = changesBefore
  }
  function read(): Promise<void> {
    running ??= loadCounted().finally(() => (running = undefined))
    return running
  }
  return {
    read,
    /** A read that began after the call. */
    async readAnew(): Promise<void> {
      await running?.catch(() => undefined)
      await read()
    },
    markChanged: () => void changes++,
    /** Reads unless everything that changed before the call has been read. */
    async catchUp(): Promise<void> {
      const needed = changes
      if (changesLoaded < needed) await running?.catch(() => undefined) // which may have begun before, and failed for it
      if (changesLoaded < needed) await read()
    },
  }
}

function parsePublicKey(jwk: string): KeyObject {
  return createPublicKey({ key: JSON.parse(jwk) as JsonWebKey, format: 'jwk' })
}

/** A public key as a JWK Set holds it (RFC 7517): these members and no others, whatever stands in System. */
export interface PublishedKey {
  readonly kty: string
  readonly crv: string
  readonly x: string
  readonly y: string
  readonly kid: string
  readonly alg: string
  readonly use: string
}

/**
 * The keys by which others verify access tokens: the one that signs, and those before it until their last token has
 * expired. Read from System each time, so that a new key is never missing; that a key is spent is remembered, because
 * it stays so.
 */
export function makePublishedKeys(system: System, clock: Clock): () => Promise<readonly PublishedKey[]> {
  const spent = new Set<string>()
  return async () => {
    const query = system.db.selectFrom('waypost_key').select(['id', 'public_jwk', 'retired_at'])
    const rows = await query.orderBy('created_at', 'desc').orderBy('id').execute()
    const hasRetired = rows.some((row) => row.retired_at !== null)
    if (hasRetired) for (const id of await findSpentKeys(system.db, clock.now(), spent)) spent.add(id)
    return rows.filter((row) => !spent.has(row.id)).map((row) => pickPublic(row.public_jwk))
  }
}

function pickPublic(text: string): PublishedKey {
  const { kty, crv, x, y, kid, alg, use } = JSON.parse(text) as PublishedKey
  return { kty, crv, x, y, kid, alg, use }
}
