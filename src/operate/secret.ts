import { loadFacts, lockFact, makeSecrets, replaceFact, resealAll, type ResealCounts } from '../store/index.ts'
import {
  listServersWithoutSecret,
  addSecret,
  assertSecret,
  hasSecretFile,
  removeOldSecrets,
  loadSecretText,
} from '../host/index.ts'
import type { Host } from '../host/index.ts'
import { changeSystem, type ActingHost } from './change-system.ts'
import { errors } from './errors.ts'

export interface SecretRotation {
  /** Where the secret is set. */
  readonly from: 'WAYPOST_SECRET' | '.waypost/secret'
  /** Whether System was bound to another secret before. */
  readonly changed: boolean
  /** Number of re-encrypted values, by table. */
  readonly resealed: ResealCounts
}

/**
 * Binds a System to the first secret of `new,old`: re-encrypts all values in one transaction; afterwards the old secret
 * alone is rejected. If the folder has its own secret file, generates a new secret and keeps the old one beside it
 * until the end.
 * @throws WP_SERVER_SECRET_SINGLE, WP_SERVER_SECRET_BEHIND, WP_STORE_SECRET_CHANGED, WP_STORE_SEALED
 */
export async function rotateHostSecret(host: ActingHost, { force }: { force: boolean }): Promise<SecretRotation> {
  const facts = await loadFacts(host.system)
  const isOwn = hasSecretFile(host, facts)
  let text = ''
  const rotated = await changeSystem(host, async (system, audit) => {
    // The lock serializes access to the folder's secret file.
    const stored = await system.transaction((trx) => lockFact(system, trx, 'secret_check'))
    text = await loadSecretText(host, facts)
    if (stored !== undefined) assertSecret(host, makeSecrets(text), stored)
    // A file with two secrets is left from an interrupted rotation, which is completed now.
    if (isOwn && !text.includes(',')) text = await addSecret(host.folder, text)
    const secrets = makeSecrets(text)
    const [newest = '', ...others] = secrets.keyIds
    if (others.length === 0) throw errors.WP_SERVER_SECRET_SINGLE()
    const behind = force ? [] : await listServersWithoutSecret(system, newest)
    if (behind.length > 0) throw errors.WP_SERVER_SECRET_BEHIND({ servers: behind.join(', ') })
    const resealed = await system.transaction((trx) => resealAll(system, { trx, secrets }))
    await replaceFact(system, 'secret_check', secrets.checkValue)
    const count = Object.values(resealed).reduce((sum, one) => sum + one, 0)
    await audit({ action: 'secret.rotate', after: { resealed: count } })
    return { resealed, changed: stored !== secrets.checkValue }
  })
  if (isOwn) await finishFileRotation(host, text)
  return { ...rotated, from: isOwn ? '.waypost/secret' : 'WAYPOST_SECRET' }
}

/**
 * After the commit, because the old secret is needed until then. Under the same lock, so that it cannot undo a later
 * rotation.
 */
async function finishFileRotation({ system, folder }: Host, text: string): Promise<void> {
  await system.transaction(async (trx) => {
    await lockFact(system, trx, 'secret_check')
    await removeOldSecrets(folder, text)
  })
}
