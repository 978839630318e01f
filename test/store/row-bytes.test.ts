import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { CompiledQuery, type Kysely } from 'kysely'
import { describeEachDatabase, type AnyTables } from './each-database.ts'

const kb = 1024
const rowBytes = 50 * kb
const rowCount = 12
const [cutOff, large] = [Symbol.for('waypost.rows-cut-off'), Symbol.for('waypost.rows-large')]

describeEachDatabase('a query with a limit of bytes', ({ kind, type, open }) => {
  let db: Kysely<AnyTables>
  before(async () => {
    ;({ db } = await open())
    await db.schema
      .createTable('note')
      .addColumn('id', 'integer')
      .addColumn('text', 'text')
      .addColumn('data', type.json)
      .execute()
    const text = 'x'.repeat(rowBytes)
    for (let id = 0; id < rowCount; id += 1)
      await db
        .insertInto('note')
        .values({ id, text, data: JSON.stringify(text) })
        .execute()
  })

  const asText = kind === 'postgresql' ? 'data::text' : 'cast(data as text)'
  const cases: readonly (readonly [what: string, column: string, bytes: number, rows: number, isLarge: boolean])[] = [
    ['ends after rows of as many bytes', 'text', 320 * kb, 6, true],
    ['returns all if there are fewer', 'text', 1000 * kb, rowCount, true],
    ['counts JSON four times', 'data', 450 * kb, 2, true],
    ['counts JSON that is read as text once', `${asText} as data`, 320 * kb, 6, true],
    ['returns the first row in any case', 'data', 10, 1, false],
    ['does not call few rows large', 'text', 120 * kb, 2, false],
  ]
  for (const [what, column, bytes, expected, isLarge] of cases) {
    for (const mark of kind === 'sqlite' ? ['', '/* scan */ '] : ['']) {
      test(`${what}${mark === '' ? '' : ', in the thread of scans'}`, async () => {
        const text = `${mark}/* at most ${bytes} bytes */ select id, ${column} from note order by id`
        const { rows } = await db.executeQuery(CompiledQuery.raw(text))
        assert.equal(rows.length, expected)
        assert.equal(cutOff in rows, expected < rowCount)
        if (mark === '' && expected > 1) assert.equal(large in rows, isLarge)
      })
    }
  }
})
