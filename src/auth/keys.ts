import { createPrivateKey, createPublicKey, generateKeyPairSync, type JsonWebKey, type KeyObject } from 'node:crypto'
import { makeId } from '../kit/index.ts'
import { recordChanges, type Secrets, type System } from '../store/index.ts'

/** The keys that sign and verify access tokens (ES256). */
export interface KeyRing {
  /** The newest key; tokens are signed with it. */
  readonly signer: { readonly kid: string; readonly key: KeyObject }
  /** The public key of a `kid`, also of one that signs no more. */
  verifier(kid: string): KeyObject | undefined
  /** Reads the keys again. */
  reload(): Promise<void>
}

const place = (row: string) => ({ table: 'waypost_key', row, column: 'private_jwk' })

/** Loads the signing keys of System, and makes the first one. @throws WP_STORE_SEALED */
export async function openKeyRing(system: System, secrets: Secrets): Promise<KeyRing> {
  let signer: KeyRing['signer']
  let verifiers = new Map<string, KeyObject>()

  async function reload(): Promise<boolean> {
    const rows = await system.db.selectFrom('waypost_key').selectAll().orderBy('created_at', 'desc').orderBy('id').execute()
    const active = rows.find((row) => row.retired_at === null)
    if (active === undefined) return false
    const jwk = JSON.parse(secrets.unseal(active.private_jwk, place(active.id))) as JsonWebKey
    signer = { kid: active.id, key: createPrivateKey({ key: jwk, format: 'jwk' }) }
    verifiers = new Map(
      rows.map((row) => [row.id, createPublicKey({ key: JSON.parse(row.public_jwk) as JsonWebKey, format: 'jwk' })]),
    )
    return true
  }

  if (!(await reload())) {
    await addKey(system, secrets)
    await reload()
  }
  return {
    get signer() {
      return signer
    },
    verifier: (kid) => verifiers.get(kid),
    reload: async () => void (await reload()),
  }
}

async function addKey(system: System, secrets: Secrets): Promise<void> {
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const id = makeId('key_', 12)
  await system.transaction(async (trx) => {
    await trx
      .insertInto('waypost_key')
      .values({
        id,
        public_jwk: JSON.stringify({ ...pair.publicKey.export({ format: 'jwk' }), kid: id, alg: 'ES256', use: 'sig' }),
        private_jwk: secrets.seal(JSON.stringify(pair.privateKey.export({ format: 'jwk' })), place(id)),
        created_at: system.now(),
        retired_at: null,
      })
      .execute()
    await recordChanges(system, trx, [{ kind: 'key', subject: id }])
  })
}
