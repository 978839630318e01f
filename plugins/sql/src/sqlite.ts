import path from 'node:path'
import { Type, type Static } from 'typebox'
import type { Kysely } from 'kysely'
import type { ConnectionClass } from 'waypost'
import { openSqlite } from 'waypost/sql'
import { openKysely } from './open-kysely.ts'

const Config = Type.Object(
  {
    file: Type.String({
      description: 'The database file, relative to the project; it is made where there is none',
      minLength: 1,
    }),
  },
  { additionalProperties: false },
)

/** An SQLite database in a file. */
export const sqlite: ConnectionClass<Static<typeof Config>, Kysely<unknown>> = {
  description: 'An SQLite database in a file',
  config: Config,
  clientType: "import('waypost').Kysely<{Tables}>",
  migrations: 'sqlite',
  async open({ file }, { folder }) {
    return openKysely(openSqlite({ file: path.resolve(folder, file), create: true }))
  },
}
