import { readFile } from 'node:fs/promises'
import { sql } from 'kysely'
import { variable } from '../../kit/index.ts'
import { makeSecrets, sealedColumns, type Secrets, type System, type SystemFacts } from '../../store/index.ts'
import { hostErrors, type Host, assertSecret, hasSecretFile, secretFile } from '../../host/index.ts'
import type { Finding } from './finding.ts'
import { isGuessable } from './is-guessable.ts'

const check = 'secret'

/** Checks that the secret belongs to this System and decrypts its values. */
export async function checkSecret(host: Host, facts: SystemFacts): Promise<Finding> {
  const isFile = hasSecretFile(host, facts)
  const name = isFile ? '.waypost/secret' : 'WAYPOST_SECRET'
  const text = isFile ? await readSecretOfFolder(host.folder) : variable(host.variables, 'WAYPOST_SECRET')
  if (text === undefined) {
    if (!isFile) throw hostErrors.WP_SERVER_SECRET_MISSING({ target: host.system.target })
    return describeMissing(facts)
  }
  const secrets = makeSecrets(text)
  const stored = facts.secret_check
  if (stored !== undefined) {
    assertSecret(host, secrets, stored)
    await unsealSamples(host.system, secrets)
  }
  if (!isFile && isGuessable(text.split(',')[0]!.trim())) return describeGuessable(stored)
  if (stored === undefined) {
    return { check, state: 'ok', message: `${name} exists; System is bound to it by the first command that signs` }
  }
  const message = `${name} decrypts the secrets in System`
  const older = await countOlder(host.system, secrets)
  if (older === 0) return { check, state: 'ok', message }
  const next = 'Keep the old secret after the new one while it is needed. To re-encrypt the values:'
  const all = `${message}; ${older === 1 ? '1 value is' : `${older} values are`} still encrypted with the old secret`
  return { check, state: 'warn', message: all, next, command: 'waypost secret:rotate' }
}

function describeGuessable(stored: string | undefined): Finding {
  const how = stored === undefined ? '' : ', then change it as docs/secrets.md describes'
  const message = 'WAYPOST_SECRET is not random: it contains words, sequences or repeated characters'
  const next = `Generate another one${how}:`
  return { check, state: 'warn', message, next, command: 'openssl rand -base64 32' }
}

function readSecretOfFolder(folder: string): Promise<string | undefined> {
  return readFile(secretFile(folder), 'utf8').then(
    (text) => text.trim(),
    () => undefined,
  )
}

function describeMissing({ secret_check: stored }: SystemFacts): Finding {
  if (stored === undefined)
    return { check, state: 'ok', message: '.waypost/secret is created by the first command that signs' }
  const next = 'Restore it. If you do not need the data in System, delete .waypost/ and start again.'
  return { check, state: 'fail', message: '.waypost/secret, with which System was set up, is missing', next }
}

/** The beginning of a sealed value: its version and the id of its key. */
const prefixOf = (column: string) => sql<string>`substr(${sql.ref(column)}, 1, ${sql.lit('v1.12345678'.length)})`

/** Decrypts one value per column and key, and all active signing keys. @throws WP_STORE_SEALED */
async function unsealSamples({ db }: System, secrets: Secrets): Promise<void> {
  for (const place of sealedColumns) {
    // All sealed tables have the columns that are read here, so one of them represents the type of all.
    const { table, column } = place as Extract<typeof place, { table: 'waypost_key' }>
    const samples = db
      .selectFrom(table)
      .where(column, 'is not', null)
      .select((rows) => rows.fn.min('id').as('id'))
      .groupBy(prefixOf(column))
    const query = db
      .selectFrom(table)
      .select(['id', `${column} as sealed`])
      .where(column, 'is not', null)
    const isKey = place.table === 'waypost_key'
    const chosen = isKey ? query.where('retired_at', 'is', null) : query.where('id', 'in', samples)
    for (const { id, sealed } of await chosen.execute()) secrets.unseal(sealed, { ...place, row: id })
  }
}

async function countOlder({ db }: System, { keyIds }: Secrets): Promise<number> {
  let count = 0
  for (const place of sealedColumns) {
    const { table, column } = place as Extract<typeof place, { table: 'waypost_key' }>
    const older = await db
      .selectFrom(table)
      .select((rows) => rows.fn.countAll<number>().as('count'))
      .where(prefixOf(column), '<>', `v1.${keyIds[0]}`)
      .executeTakeFirstOrThrow()
    count += older.count
  }
  return count
}
