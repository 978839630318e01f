import { after, before, describe } from 'node:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { sql, type Kysely } from 'kysely'
import { testPlugin } from 'waypost/testing'
import { startPostgres, type TestPostgres } from '../../../test/support/postgres.ts'
import plugin from '../src/index.ts'

let declared: Promise<void> | undefined
describe('the contract of plugins', () => {
  let folder: string
  let postgres: TestPostgres
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'waypost-sql-contract-'))
    postgres = await startPostgres()
  })
  after(async () => {
    await postgres.stop()
    await rm(folder, { recursive: true, force: true })
  })

  const rows = {
    prepare: (client: Kysely<unknown>) => sql`create table contract (id integer)`.execute(client),
    add: (client: Kysely<unknown>) => sql`insert into contract values (1)`.execute(client),
    count: async (client: Kysely<unknown>) => (await sql`select id from contract`.execute(client)).rows.length,
  }
  const tables = {
    System: {
      tables: {
        app_todo: {
          columns: {
            id: { type: 'id' },
            title: { type: 'text', length: 64 },
            done: { type: 'boolean', default: true },
          },
          key: ['id'],
        },
      },
    },
  } as const
  const config = { table: 'app_todo', columns: ['id', 'title', 'done'] }
  declared = testPlugin(plugin, {
    module: import.meta.resolve('../src/index.ts'),
    connections: {
      sqlite: { config: () => ({ file: path.join(folder, 'contract.db') }), rows },
      postgresql: {
        config: async () => ({ url: await postgres.createDatabase() }),
        down: (port) => ({ url: `postgresql://user:password@127.0.0.1:${port}/db` }),
        rows,
      },
    },
    actions: {
      'sql-query': [
        { config: { query: 'select 1 as one' }, declared: { response: { type: 'array', items: { type: 'object' } } } },
        {
          config: { query: 'delete from contract where id = :id' },
          path: '/contract/:id',
          method: 'DELETE',
          declared: { responses: { 204: null } },
        },
      ],
      'sql-table': [
        { config, path: '/todo', tables },
        { config, path: '/todo', method: 'POST', tables },
        { config, path: '/todo/:id', tables },
        { config, path: '/todo/:id', method: 'PATCH', tables },
      ],
    },
  })
  return declared
})
await declared // tests that are declared once the file is loaded would be in no file
