import { readFile } from 'node:fs/promises'
import { sql } from 'kysely'
import { variable } from '../../kit/index.ts'
import { makeSecrets, type Secrets, type System, type SystemFacts } from '../../store/index.ts'
import { errors } from '../errors.ts'
import type { Host } from '../host.ts'
import { assertSecret, hasOwnSecret, secretFile } from '../resolve-secrets.ts'
import type { Finding } from './finding.ts'

const check = 'secret'

/** Whether the secret is the one of this System, and opens what is sealed in it. */
export async function checkSecret(host: Host, facts: SystemFacts): Promise<Finding> {
  const isFile = hasOwnSecret(host, facts)
  const name = isFile ? '.waypost/secret' : 'WAYPOST_SECRET'
  const text = isFile ? await readOwn(host.folder) : variable(host.variables, 'WAYPOST_SECRET')
  if (text === undefined) {
    if (!isFile) throw errors.WP_SERVER_SECRET_MISSING({ target: host.system.target })
    return describeMissing(facts)
  }
  const secrets = makeSecrets(text)
  if (facts.secret_check === undefined) {
    return { check, state: 'ok', message: `${name} is there; the first command that signs binds System to it` }
  }
  assertSecret(host, secrets, facts.secret_check)
  await unsealSamples(host.system, secrets)
  return { check, state: 'ok', message: `${name} opens what System holds` }
}

function readOwn(folder: string): Promise<string | undefined> {
  return readFile(secretFile(folder), 'utf8').then(
    (text) => text.trim(),
    () => undefined,
  )
}

function describeMissing({ secret_check: stored }: SystemFacts): Finding {
  if (stored === undefined) return { check, state: 'ok', message: 'The first command that signs makes .waypost/secret' }
  const next = 'Put it back; if nothing in System is needed, remove .waypost/ and start again.'
  return { check, state: 'fail', message: 'There is no .waypost/secret, with which System was set up', next }
}

/** The first characters of a sealed value: its version, and the id of the key that sealed it. */
const prefix = 'v1.12345678'.length

/** Opens every key that signs, and one subscription's secret of each key that seals. @throws WP_STORE_SEALED */
async function unsealSamples({ db }: System, secrets: Secrets): Promise<void> {
  const keys = await db
    .selectFrom('waypost_key')
    .select(['id', 'private_jwk'])
    .where('retired_at', 'is', null)
    .execute()
  for (const { id, private_jwk: sealed } of keys) {
    secrets.unseal(sealed, { table: 'waypost_key', row: id, column: 'private_jwk' })
  }
  const samples = db
    .selectFrom('waypost_subscription')
    .select((column) => column.fn.min('id').as('id'))
    .groupBy(sql`substr(secret, 1, ${sql.lit(prefix)})`)
  const query = db.selectFrom('waypost_subscription').select(['id', 'secret']).where('id', 'in', samples)
  for (const { id, secret } of await query.execute()) {
    secrets.unseal(secret, { table: 'waypost_subscription', row: id, column: 'secret' })
  }
}
