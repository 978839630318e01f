import { createPrivateKey, createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto'
import type { Secrets, System } from '../../store/index.ts'
import { ensureKey, privateKeyPlace, findSpentKeys } from './rotate-key.ts'
import { readAlgorithm, type TokenAlgorithm } from './signing.ts'
import type { Clock } from '../../kit/index.ts'

export interface SigningKey {
  readonly kid: string
  readonly key: KeyObject
}

/** The keys that sign and verify access tokens. Each has one algorithm. */
export interface KeyRing {
  /** The newest key that is loaded, of any algorithm. */
  readonly signer: SigningKey
  /**
   * Returns the key to sign with: the newest one of the algorithm, ES256 by default. Reads System while it is unknown
   * whether the key has changed, and creates a key if there is none.
   */
  newest(algorithm?: TokenAlgorithm): Promise<SigningKey>
  /** Creates the key of an algorithm if there is none. Called before a release is served, outside of transactions. */
  prepare(algorithm: TokenAlgorithm): Promise<void>
  /** Returns the public key of a `kid`, including retired keys. Keys that are not loaded are read from System. */
  verifier(kid: string): Promise<KeyObject | undefined>
  /** Marks the loaded keys as outdated. No key is returned before they have been read again. */
  markChanged(): void
}

interface KeyRow {
  readonly id: string
  readonly private_jwk: string
  readonly algorithm: TokenAlgorithm
}

const keyId = /^key_[0-9A-Z]{1,32}$/

/**
 * Loads the signing keys of System, and creates the first one.
 * @param isFresh whether all changes so far were reported by `markChanged`
 * @throws WP_STORE_SEALED
 */
export async function openKeyRing(
  system: System,
  secrets: Secrets,
  isFresh: () => boolean = () => true,
): Promise<KeyRing> {
  /** The keys that sign, the newest first. */
  let rows: readonly KeyRow[] = []
  let signers: ReadonlyMap<string, SigningKey> = new Map()
  let verifiers: ReadonlyMap<string, KeyObject> = new Map()

  async function load(): Promise<void> {
    const query = system.guardDb.selectFrom('waypost_key').selectAll() // does not wait behind actions
    const all = await query.orderBy('created_at', 'desc').orderBy('id').execute()
    rows = all
      .filter((row) => row.retired_at === null)
      .map((row) => ({ ...row, algorithm: readAlgorithm(row.public_jwk) }))
    signers = new Map([...signers].filter(([kid]) => rows.some(({ id }) => id === kid)))
    verifiers = new Map(all.map((row) => [row.id, verifiers.get(row.id) ?? parsePublicKey(row.public_jwk)]))
  }

  // Only when signing: a server that cannot decrypt the key can still verify tokens.
  function openSigner({ id, private_jwk: sealed }: KeyRow): SigningKey {
    const known = signers.get(id)
    if (known !== undefined) return known
    const jwk = JSON.parse(secrets.unseal(sealed, privateKeyPlace(id))) as JsonWebKey
    const signer = { kid: id, key: createPrivateKey({ key: jwk, format: 'jwk' }) }
    signers = new Map([...signers, [id, signer]])
    return signer
  }

  const find = (algorithm: TokenAlgorithm) => rows.find((row) => row.algorithm === algorithm)
  async function prepare(algorithm: TokenAlgorithm): Promise<void> {
    if (find(algorithm) !== undefined) return
    await ensureKey(system, secrets, algorithm)
    await reloader.reload()
  }

  const reloader = makeReloader(load)
  await reloader.read()
  if (rows.length === 0) await prepare('ES256')
  openSigner(rows[0]!)
  return {
    get signer() {
      return openSigner(rows[0]!)
    },
    async newest(algorithm = 'ES256') {
      if (!isFresh()) reloader.markChanged()
      await reloader.catchUp()
      await prepare(algorithm)
      return openSigner(find(algorithm) ?? rows[0]!) // another rotation may have been quicker
    },
    prepare,
    async verifier(kid) {
      if (!keyId.test(kid)) return undefined
      if (!isFresh()) reloader.markChanged() // the key may have been withdrawn
      await reloader.catchUp()
      if (!verifiers.has(kid)) await reloader.reload()
      return verifiers.get(kid)
    },
    markChanged() {
      reloader.markChanged()
      reloader.catchUp().catch(() => undefined) // the next use tries again
    },
  }
}

/** Keeps a copy up to date. Only one read runs at a time, so that unknown key ids cannot cause many reads. */
function makeReloader(load: () => Promise<void>) {
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
    /** Waits for a read that began after the call. */
    async reload(): Promise<void> {
      await running?.catch(() => undefined)
      await read()
    },
    markChanged: () => void changes++,
    /** Reads unless all changes before the call have already been read. */
    async catchUp(): Promise<void> {
      const needed = changes
      if (changesLoaded < needed) await running?.catch(() => undefined) // it may have begun before the change
      if (changesLoaded < needed) await read()
    },
  }
}

function parsePublicKey(jwk: string): KeyObject {
  return createPublicKey({ key: JSON.parse(jwk) as JsonWebKey, format: 'jwk' })
}

/** A public key in a JWK Set (RFC 7517). Only these members are published, whatever is stored. */
export interface PublishedKey {
  readonly kty: string
  readonly crv?: string
  readonly x?: string
  readonly y?: string
  readonly n?: string
  readonly e?: string
  readonly kid: string
  readonly alg: string
  readonly use: string
}

/**
 * Makes the function that loads the published keys: the signing keys, and retired keys until their last token has
 * expired. Reads System each time, so that new keys are never missing. That a key is spent is cached, because it does
 * not change.
 */
export function makePublishedKeys(system: System, clock: Clock): () => Promise<readonly PublishedKey[]> {
  const spent = new Set<string>()
  return async () => {
    const query = system.db.selectFrom('waypost_key').select(['id', 'public_jwk', 'retired_at'])
    const rows = await query.orderBy('created_at', 'desc').orderBy('id').execute()
    const hasRetired = rows.some((row) => row.retired_at !== null)
    if (hasRetired) for (const id of await findSpentKeys(system.db, clock.now(), spent)) spent.add(id)
    return rows.filter((row) => !spent.has(row.id)).map((row) => pickPublicMembers(row.public_jwk))
  }
}

function pickPublicMembers(text: string): PublishedKey {
  const { kty, crv, x, y, n, e, kid, alg, use } = JSON.parse(text) as PublishedKey
  return kty === 'RSA' ? { kty, n: n!, e: e!, kid, alg, use } : { kty, crv: crv!, x: x!, y: y!, kid, alg, use }
}
