import type { Transaction } from 'kysely'
import {
  countOlderSealed,
  loadFacts,
  lockFact,
  makeSecrets,
  removeFact,
  replaceFact,
  resealAll,
  resealInBatches,
  type ResealCounts,
  type Secrets,
  type SystemFacts,
  type SystemTables,
} from '../store/index.ts'
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

export interface SecretRotationOptions {
  /** Rotate even if a server does not use the new secret yet. */
  readonly force: boolean
  /** Called while values are re-encrypted. */
  onProgress?(progress: { readonly done: number; readonly total: number }): void
}

/**
 * Binds a System to the first secret of `new,old`: re-encrypts all values in batches, then the rest and the binding in one
 * transaction; afterwards the old secret alone is rejected, by processes that start also meanwhile. If it is interrupted,
 * System stays bound to the old secret, both are needed, and the next call continues. If the folder has its own secret file, generates a new secret and keeps the
 * old one beside it until the end.
 * @throws WP_SERVER_SECRET_SINGLE, WP_SERVER_SECRET_BEHIND, WP_STORE_SECRET_CHANGED, WP_STORE_SEALED
 */
export async function rotateHostSecret(
  host: ActingHost,
  { force, onProgress }: SecretRotationOptions,
): Promise<SecretRotation> {
  const facts = await loadFacts(host.system)
  const isOwn = hasSecretFile(host, facts)
  const begun = await host.system.transaction(async (trx) => {
    const { text, stored } = await loadPair(host, trx, facts)
    // A file with two secrets is left from an interrupted rotation, which is completed now.
    const pair = isOwn && !text.includes(',') ? await addSecret(host.folder, text) : text
    return { secrets: await assertRotatable(host, pair, { force }), stored }
  })
  await replaceFact(host.system, 'secret_next', begun.secrets.checkValue)
  const total = await countOlderSealed(host.system, begun.secrets)
  const batches = await resealInBatches(host.system, {
    secrets: begun.secrets,
    check: begun.stored,
    onBatch: (done) => onProgress?.({ done, total: Math.max(done, total) }),
  })
  let text = ''
  const rotated = await changeSystem(host, async (system, audit) => {
    const bound = await system.transaction((trx) => loadPair(host, trx, facts))
    text = bound.text
    await removeFact(system, 'secret_next')
    // Another process, which shares the file, has completed the rotation.
    if (isOwn && !text.includes(',')) return { resealed: batches, changed: true }
    const secrets = await assertRotatable({ ...host, system }, text, { force })
    const rest = await system.transaction((trx) => resealAll(system, { trx, secrets }))
    await replaceFact(system, 'secret_check', secrets.checkValue)
    const resealed = addCounts(batches, rest)
    const count = Object.values(resealed).reduce((sum, one) => sum + one, 0)
    await audit({ action: 'secret.rotate', after: { resealed: count } })
    return { resealed, changed: bound.stored !== secrets.checkValue }
  })
  if (isOwn) await finishFileRotation(host, text)
  return { ...rotated, from: isOwn ? '.waypost/secret' : 'WAYPOST_SECRET' }
}

/** Loads the secrets. The lock serializes access to the folder's file. */
async function loadPair(
  host: ActingHost,
  trx: Transaction<SystemTables>,
  facts: SystemFacts,
): Promise<{ text: string; stored: string | undefined }> {
  const stored = await lockFact(host.system, trx, 'secret_check')
  const text = await loadSecretText(host, facts)
  if (stored !== undefined) assertSecret(host, makeSecrets(text), stored)
  return { text, stored }
}

/** @throws WP_SERVER_SECRET_SINGLE, WP_SERVER_SECRET_BEHIND */
async function assertRotatable({ system }: ActingHost, text: string, { force }: { force: boolean }): Promise<Secrets> {
  const secrets = makeSecrets(text)
  const [newest = '', ...others] = secrets.keyIds
  if (others.length === 0) throw errors.WP_SERVER_SECRET_SINGLE()
  const behind = force ? [] : await listServersWithoutSecret(system, newest)
  if (behind.length > 0) throw errors.WP_SERVER_SECRET_BEHIND({ servers: behind.join(', ') })
  return secrets
}

function addCounts(one: ResealCounts, other: ResealCounts): ResealCounts {
  const sums = Object.entries(one).map(([table, count]) => [table, count + other[table as keyof ResealCounts]])
  return Object.fromEntries(sums) as ResealCounts
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
