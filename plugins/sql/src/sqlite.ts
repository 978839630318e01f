import { existsSync } from 'node:fs'
import path from 'node:path'
import type { ConnectionClass, Kysely } from 'waypost'

interface Config {
  readonly file: string
}

const config = {
  type: 'object',
  required: ['file'],
  properties: {
    file: {
      type: 'string',
      description: 'The database file, relative to the project; created if it does not exist',
      minLength: 1,
    },
  },
  additionalProperties: false,
}

/** A SQLite database file. */
export const sqlite: ConnectionClass<Config, Kysely<unknown>> = {
  description: 'A SQLite database file',
  config,
  clientType: "import('waypost').Kysely<{Tables}>",
  migrations: 'sqlite',
  capabilities: ['transaction'],
  async open({ file }, { folder }) {
    // Drivers are loaded on open, so that `validate` does not wait for them.
    const [{ openSqlite }, { openKysely }] = await Promise.all([import('waypost/sql'), import('./open-kysely.ts')])
    return openKysely(openSqlite({ file: path.resolve(folder, file), create: true }))
  },
  isThere: ({ file }, { folder }) => existsSync(path.resolve(folder, file)),
}
