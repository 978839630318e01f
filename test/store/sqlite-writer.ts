// A process for the tests of SQLite: `FILE write COUNT` adds one in each of COUNT transactions, four at a time; `FILE
// hold` holds the write lock until its standard input ends.
import { once } from 'node:events'
import { DatabaseSync } from 'node:sqlite'
import { Kysely } from 'kysely'
import { openSqlite } from '../../src/store/sql/sqlite-dialect.ts'

const [file = '', task, count = '0'] = process.argv.slice(2)

async function write(): Promise<void> {
  const database = openSqlite({ file })
  const db = new Kysely<{ counter: { value: number } }>({ dialect: database.dialect() })
  const lane = async (times: number) => {
    for (let done = 0; done < times; done++) {
      await db.transaction().execute(async (transaction) => {
        const { value } = await transaction.selectFrom('counter').select('value').executeTakeFirstOrThrow()
        await transaction
          .updateTable('counter')
          .set({ value: value + 1 })
          .execute()
      })
    }
  }
  await Promise.all([1, 2, 3, 4].map(() => lane(Number(count) / 4)))
  await database.close()
}

async function hold(): Promise<void> {
  const handle = new DatabaseSync(file)
  handle.exec('begin immediate; insert into counter values (1000000)')
  process.stdout.write('held\n')
  await once(process.stdin.resume(), 'end')
  handle.exec('rollback')
  handle.close()
}

if (task === 'write') await write()
else if (task === 'hold') await hold()
else throw new Error(`No such task: ${task}`)
