import type { DatabaseKind } from '../../src/contract/index.ts'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, describe } from 'node:test'
import { Kysely } from 'kysely'
import { columnTypes } from '../../src/store/sql/column-types.ts'
import { openPostgres } from '../../src/store/sql/postgres-dialect.ts'
import { openSqlite } from '../../src/store/sql/sqlite-dialect.ts'
import { startPostgres, type TestPostgres } from '../support/postgres.ts'

// oxlint-disable-next-line typescript/no-explicit-any -- each test defines its own tables
export type AnyTables = any

/** Opens a new, empty database. All are closed after the suite. */
export type OpenFresh = () => Promise<{
  readonly db: Kysely<AnyTables>
  readonly database: ReturnType<typeof openSqlite> | ReturnType<typeof openPostgres>
  /** The file or the URL. */
  readonly address: string
}>

interface Suite {
  readonly kind: DatabaseKind
  readonly type: ReturnType<typeof columnTypes>
  readonly open: OpenFresh
}

/** Declares the same tests for SQLite and PostgreSQL, which has bad settings and messages in another language. */
export function describeEachDatabase(name: string, declare: (suite: Suite) => void): void {
  describe(`${name}, sqlite`, () => {
    let folder: string
    const opened: { close(): Promise<void> }[] = []
    before(async () => {
      folder = await mkdtemp(path.join(tmpdir(), 'waypost-store-'))
    })
    after(async () => {
      await Promise.all(opened.map((database) => database.close()))
      await rm(folder, { recursive: true })
    })
    const open: OpenFresh = async () => {
      const address = path.join(folder, `${opened.length}.db`)
      const database = openSqlite({ file: address, create: true, synchronous: 'OFF' })
      opened.push(database)
      return { address, database, db: new Kysely<AnyTables>({ dialect: database.dialect() }) }
    }
    declare({ kind: 'sqlite', type: columnTypes('sqlite'), open })
  })

  describe(`${name}, postgresql`, () => {
    let server: TestPostgres
    const opened: { close(): Promise<void> }[] = []
    before(async () => {
      server = await startPostgres({ unusual: true })
    })
    after(async () => {
      await Promise.all(opened.map((database) => database.close()))
      await server.stop()
    })
    const open: OpenFresh = async () => {
      const address = await server.createDatabase()
      const database = openPostgres({ url: address, max: 4 })
      opened.push(database)
      return { address, database, db: new Kysely<AnyTables>({ dialect: database.dialect() }) }
    }
    declare({ kind: 'postgresql', type: columnTypes('postgresql'), open })
  })
}
