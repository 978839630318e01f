import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { entities } from '../../src/store/entities.ts'
import {
  countOlderSealed,
  loadFacts,
  makeSecrets,
  resealAll,
  resealInBatches,
  sealedColumns,
  type Secrets,
  type System,
} from '../../src/store/index.ts'
import { startTestServer, type TestServer } from '../support/server.ts'
import { chooseKinds } from '../support/forms.ts'

const older = makeSecrets('an older secret of more than 32 characters')
const newer = makeSecrets('the newer secret of more than 32 characters')
const both = makeSecrets('the newer secret of more than 32 characters,an older secret of more than 32 characters')
const subscriptions = 1203 // more than two chunks

const placeOf = (row: string) => ({ table: 'waypost_subscription', row, column: 'secret' }) as const

test('the sealed columns are the encrypted columns of the entities, each in a table whose key is its id', () => {
  const folder = path.join(import.meta.dirname, '../../src/store/entities')
  const named = globSync('*.ts', { cwd: folder }).flatMap((file) => {
    const text = readFileSync(path.join(folder, file), 'utf8')
    return [...text.matchAll(/\/\*\* Encrypted\b[^\n]*\*\/\s+(\w+):/g)].map((match) => {
      const table = [...text.slice(0, match.index).matchAll(/tableName: '(\w+)'/g)].at(-1)?.[1]
      return `${table}.${match[1]}`
    })
  })
  assert.deepEqual(sealedColumns.map(({ table, column }) => `${table}.${column}`).toSorted(), named.toSorted())
  for (const { table } of sealedColumns) {
    const entity = entities.find(({ meta }) => meta.tableName === table)
    assert.equal((entity!.meta.properties as Record<string, { primary?: boolean }>)['id']?.primary, true, table)
  }
})

for (const kind of chooseKinds('postgresql')) {
  describe(`values are sealed again on ${kind}`, () => {
    let server: TestServer
    let system: System
    before(async () => {
      server = await startTestServer({ kind })
      system = server.host.system
      await system.db.deleteFrom('waypost_key').execute()
    })
    after(() => server.close())

    const addSubscriptions = async (prefix: string, { secrets, count }: { secrets: Secrets; count: number }) => {
      const rows = Array.from({ length: count }, (_, index) => `${prefix}${String(index).padStart(5, '0')}`)
      for (let start = 0; start < rows.length; start += 100) {
        const values = rows.slice(start, start + 100).map((id) => ({
          id,
          user_id: 'u',
          event: 'e',
          endpoint: id,
          status: 'active' as const,
          revision: 1,
          secret: secrets.seal(`text ${id}`, placeOf(id)),
          created_at: 1,
        }))
        await system.db.insertInto('waypost_subscription').values(values).execute()
      }
    }
    const read = () => system.db.selectFrom('waypost_subscription').select(['id', 'secret']).orderBy('id').execute()

    test('all values that an older secret sealed, and no others', async () => {
      await addSubscriptions('old_', { secrets: older, count: subscriptions })
      await addSubscriptions('new_', { secrets: newer, count: 2 })
      const untouched = (await read()).filter(({ id }) => id.startsWith('new_'))
      const counts = await system.transaction((trx) => resealAll(system, { trx, secrets: both }))
      assert.deepEqual(counts, {
        waypost_key: 0,
        waypost_subscription: subscriptions,
        waypost_variable: 0,
        waypost_draft_variable: 0,
      })
      const rows = await read()
      for (const { id, secret } of rows) assert.equal(newer.unseal(secret, placeOf(id)), `text ${id}`)
      assert.deepEqual(
        rows.filter(({ id }) => id.startsWith('new_')),
        untouched,
      )
      const again = await system.transaction((trx) => resealAll(system, { trx, secrets: both }))
      assert.equal(again.waypost_subscription, 0)
    })

    test('in batches: those before an interruption stay, others change meanwhile, and the next call continues', async () => {
      await system.db.deleteFrom('waypost_subscription').execute()
      await addSubscriptions('old_', { secrets: older, count: subscriptions })
      const check = (await loadFacts(system)).secret_check
      const interrupted = new Error('interrupted')
      const seen: number[] = []
      const resealing = resealInBatches(system, {
        secrets: both,
        check,
        onBatch(done) {
          seen.push(done)
          if (done > 500) throw interrupted
        },
      })
      await assert.rejects(resealing, (error) => error === interrupted)
      assert.deepEqual(seen, [500, 1000])
      assert.equal(await countOlderSealed(system, both), subscriptions - 1000)
      const other = await resealInBatches(system, { secrets: both, check: 'of another rotation' })
      assert.equal(other.waypost_subscription, 0)
      const counts = await resealInBatches(system, { secrets: both, check })
      assert.equal(counts.waypost_subscription, subscriptions - 1000)
      for (const { id, secret } of await read()) assert.equal(newer.unseal(secret, placeOf(id)), `text ${id}`)
    })

    test('one that no secret opens leaves every other one as it was', async () => {
      await addSubscriptions('zzz_', { secrets: makeSecrets('a secret that nobody knows any more'), count: 1 })
      await addSubscriptions('aaa_', { secrets: older, count: 3 })
      const rows = await read()
      const resealing = system.transaction((trx) => resealAll(system, { trx, secrets: both }))
      await assert.rejects(resealing, { code: 'WP_STORE_SEALED' })
      assert.deepEqual(await read(), rows)
    })
  })
}
