import { loadFacts, lockFact, makeSecrets, replaceFact, resealAll, type ResealCounts } from '../store/index.ts'
import {
  type Host,
  listServersWithoutSecret,
  addSecret,
  assertSecret,
  hasSecretFile,
  removeOldSecrets,
  loadSecretText,
} from '../host/index.ts'
import { errors } from './errors.ts'

export interface SecretRotation {
  /** Where the secret stands. */
  readonly from: 'WAYPOST_SECRET' | '.waypost/secret'
  /** Whether System was bound to another one before. */
  readonly changed: boolean
  /** How many values were sealed again, by table. */
  readonly resealed: ResealCounts
}

/**
 * Binds a System to the first secret of `new,old`: all that is sealed is sealed again, in one transaction, and the old
 * one alone is refused afterwards. The folder's own secret is made anew, and stands beside the old one until that is done.
 * @throws WP_SERVER_SECRET_SINGLE, WP_SERVER_SECRET_BEHIND, WP_STORE_SECRET_CHANGED, WP_STORE_SEALED
 */
export async function rotateHostSecret(host: Host, { force }: { force: boolean }): Promise<SecretRotation> {
  const facts = await loadFacts(host.system)
  const isOwn = hasSecretFile(host, facts)
  let text = ''
  const rotated = await host.system.transaction(async (trx) => {
    // The lock keeps two of these from reading and writing the folder's file at once.
    const stored = await lockFact(host.system, trx, 'secret_check')
    text = await loadSecretText(host, facts)
    if (stored !== undefined) assertSecret(host, makeSecrets(text), stored)
    // Two of its own are what an interrupted change left: it is brought to its end.
    if (isOwn && !text.includes(',')) text = await addSecret(host.folder, text)
    const secrets = makeSecrets(text)
    const [newest = '', ...others] = secrets.keyIds
    if (others.length === 0) throw errors.WP_SERVER_SECRET_SINGLE()
    const behind = force ? [] : await listServersWithoutSecret({ ...host.system, db: trx }, newest)
    if (behind.length > 0) throw errors.WP_SERVER_SECRET_BEHIND({ servers: behind.join(', ') })
    const resealed = await resealAll(host.system, { trx, secrets })
    await replaceFact({ db: trx }, 'secret_check', secrets.checkValue)
    return { resealed, changed: stored !== secrets.checkValue }
  })
  if (isOwn) await endOwnChange(host, text)
  return { ...rotated, from: isOwn ? '.waypost/secret' : 'WAYPOST_SECRET' }
}

/** Behind the commit, because until then the old one is needed; under the same lock, or it might undo a later change. */
async function endOwnChange({ system, folder }: Host, text: string): Promise<void> {
  await system.transaction(async (trx) => {
    await lockFact(system, trx, 'secret_check')
    await removeOldSecrets(folder, text)
  })
}
