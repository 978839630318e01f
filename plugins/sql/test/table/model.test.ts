import type { DatabaseKind } from 'waypost'
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { startPostgres, type TestPostgres } from '../../../../test/support/postgres.ts'
import { fc, runs } from '../../../../test/support/property.ts'
import { openTableApi, type TableApi } from '../../../../test/support/table-api.ts'
import {
  change,
  compareValues,
  hasValues,
  insertion,
  listing,
  store,
  type Change,
  type Listing,
  type ModelRow,
} from './order-model.ts'
import { orderApi } from './order-table.ts'
import { isLong } from '../../../../test/support/forms.ts'

const columns = ['total', 'title', 'flag', 'paid_at', 'due', 'weight', 'large', 'price']

for (const [name, kind, locale] of [
  ['sqlite', 'sqlite', undefined],
  ...(isLong ? [['postgresql', 'postgresql', undefined] as const] : []), // the next one is stricter
  ['postgresql with a locale of ICU', 'postgresql', 'de-DE'],
] as const) {
  describe(`the model of a table, ${name}`, () => {
    let postgres: TestPostgres | undefined
    let api: TableApi
    before(async () => {
      if (kind === 'postgresql') postgres = await startPostgres()
      api = await openTableApi(orderApi(kind, await postgres?.createDatabase(locale)))
    })
    after(async () => {
      await api[Symbol.asyncDispose]()
      await postgres?.stop()
    })

    test('every method and every list answers the rows of its caller', async () => {
      const example = fc.tuple(
        fc.array(insertion, { minLength: 8, maxLength: 30 }),
        fc.array(change, { maxLength: 15 }),
        fc.array(listing, { minLength: 3, maxLength: 10 }),
      )
      await fc.assert(
        fc.asyncProperty(example, async ([insertions, changes, listings]) => {
          await api.execute('delete from app_order')
          const model: ModelRow[] = []
          for (const { user, body } of insertions) {
            const result = await api.call('POST /order', { user, body })
            assert.equal(result.status, 201, JSON.stringify([body, result.body]))
            const values = { ...Object.fromEntries(columns.map((one) => [one, null])), ...store(body, kind) }
            model.push({ id: result.body.id, user, deleted: false, version: 1, values })
          }
          for (const one of changes) await apply(one, { api, model, kind })
          for (const one of listings) await list(one, { api, model, kind })
        }),
        { numRuns: runs(200) },
      )
    })
  })
}

interface Subject {
  readonly api: TableApi
  readonly model: ModelRow[]
  readonly kind: DatabaseKind
}

/** Sends a change, and makes it in the model if it should succeed. */
async function apply({ method, user, row, body, version }: Change, { api, model, kind }: Subject): Promise<void> {
  const index = row % model.length
  const { id, ...before } = model[index]!
  const isThere = before.user === user && !before.deleted
  const isChange = method !== 'GET'
  const isCurrent = !isChange || version === undefined || version === before.version
  const expected = isThere ? (isCurrent ? 200 : 412) : 404
  const full = { ...Object.fromEntries(columns.map((one) => [one, null])), total: 0, title: 'x', ...body }
  const rest = { data: null, always: {}, code: null, shelf_id: null }
  const sent = method === 'PUT' ? { ...full, ...rest } : { total: 1, ...body }
  const result = await api.call(`${method} /order/${id}`, {
    user,
    ...(method === 'PUT' || method === 'PATCH' ? { body: sent } : {}),
    headers: version === undefined ? {} : { 'if-match': `"${version}"` },
  })
  const status = expected === 200 && method === 'DELETE' ? 204 : expected
  assert.equal(result.status, status, JSON.stringify([method, user, id, result.body]))
  if (expected !== 200 || !isChange) return
  const stored = store(method === 'PUT' ? full : sent, kind)
  model[index] = {
    id,
    user: before.user,
    version: before.version + 1,
    deleted: method === 'DELETE',
    values: method === 'DELETE' ? before.values : { ...before.values, ...stored },
  }
}

/** Reads all pages of a list, which must be the rows of the model in their order. */
async function list({ user, sort, limit, filters }: Listing, { api, model, kind }: Subject): Promise<void> {
  const query = { ...filters, ...(sort && { sort: sort.join() }), limit, count: true }
  const rows = model.filter((row) => row.user === user && !row.deleted && hasValues(row, filters))
  const ranks = await loadRanks(api)
  const terms = (sort ?? ['-id']).map((text) => ({ name: text.replace('-', ''), sign: text.startsWith('-') ? -1 : 1 }))
  if (terms.every((term) => term.name !== 'id')) terms.push({ name: 'id', sign: terms.at(-1)!.sign })
  const valueOf = (row: ModelRow, name: string): unknown => {
    if (name === 'id') return row.id
    if (name === 'insert_date') return 0 // the same in all rows
    return name === 'title' ? ranks.get(row.id) : row.values[name]
  }
  const sorted = rows.toSorted((one, other) => {
    for (const { name, sign } of terms) {
      const order = sign * compareValues(valueOf(one, name), valueOf(other, name))
      if (order !== 0) return order
    }
    return 0
  })
  const found: number[] = []
  for (let after: string | undefined, page = 0; page <= rows.length; page += 1) {
    const { status, body } = await api.call('GET /order', { user, query: { ...query, after } })
    assert.equal(status, 200, JSON.stringify([query, body]))
    assert.equal(body.count, rows.length)
    assert.ok(body.entry.length <= limit)
    found.push(...body.entry.map(({ id }: { id: number }) => id))
    after = body.next ?? undefined
    if (after === undefined) break
  }
  assert.deepEqual(
    found,
    sorted.map(({ id }) => id),
    JSON.stringify([query, kind]),
  )
}

/** The order of titles depends on the locale of the database. */
async function loadRanks(api: TableApi): Promise<ReadonlyMap<unknown, unknown>> {
  const rows = await api.execute('select id, rank() over (order by title) as rank from app_order')
  return new Map(rows.map(({ id, rank }) => [id, rank]))
}
