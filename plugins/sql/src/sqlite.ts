import { existsSync, statSync } from 'node:fs'
import path from 'node:path'
import type { ConnectionClass, Kysely } from 'waypost'

interface Config {
  readonly file: string
  readonly journal?: 'keep' | 'wal'
  readonly read_only?: boolean
  /** Seconds; 0 for no limit. */
  readonly statement_timeout?: number
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
    journal: {
      enum: ['keep', 'wal'],
      description:
        'keep leaves the journal mode of the file as it is, wal switches it to write-ahead logging. Default: keep for an existing file, wal for a new one',
    },
    read_only: {
      type: 'boolean',
      description: 'Never change the file. It may be on read-only media',
      default: false,
    },
    statement_timeout: {
      type: 'integer',
      description: 'Seconds after which a query that reads many rows fails; 0 for no limit',
      minimum: 0,
      maximum: 86_400,
      default: 30,
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
  async open({ file, journal, read_only: readOnly = false, statement_timeout: timeout = 30 }, { folder }) {
    // Drivers are loaded on open, so that `validate` does not wait for them.
    const [{ openSqlite }, { openKysely }] = await Promise.all([import('waypost/sql'), import('./open-kysely.ts')])
    const resolved = path.resolve(folder, file)
    const isThere = (statSync(resolved, { throwIfNoEntry: false })?.size ?? 0) > 0
    return openKysely(
      openSqlite({
        file: resolved,
        create: !readOnly && !isThere,
        journal: journal ?? (isThere ? 'keep' : 'wal'),
        readOnly,
        scanLimitMs: timeout * 1000,
        allowsQuotedTexts: true, // as the programs that made them
      }),
    )
  },
  isThere: ({ file }, { folder }) => existsSync(path.resolve(folder, file)),
}
