import type { ConnectionClass, Kysely } from 'waypost'

interface Config {
  readonly url: string
  readonly max?: number
  readonly prepare?: boolean
  /** Seconds; 0 for no limit. */
  readonly statement_timeout?: number
}

const config = {
  type: 'object',
  required: ['url'],
  properties: {
    url: {
      type: 'string',
      description: 'postgresql://USER:PASSWORD@HOST:PORT/DATABASE',
      writeOnly: true,
      minLength: 1,
    },
    max: { type: 'integer', description: 'Maximum number of connections', minimum: 1, maximum: 1000, default: 10 },
    prepare: {
      type: 'boolean',
      description: 'Prepare statements that are used repeatedly. Set to false behind a pooler such as PgBouncer',
      default: true,
    },
    statement_timeout: {
      type: 'integer',
      description: 'Seconds after which PostgreSQL cancels a statement; 0 for no limit. Migrations have no limit',
      minimum: 0,
      maximum: 86_400,
      default: 30,
    },
  },
  additionalProperties: false,
}

/** A PostgreSQL database with a connection pool. The first query connects. */
export const postgresql: ConnectionClass<Config, Kysely<unknown>> = {
  description: 'A PostgreSQL database',
  config,
  clientType: "import('waypost').Kysely<{Tables}>",
  migrations: 'postgresql',
  capabilities: ['transaction'],
  async open({ url, max = 10, prepare = true, statement_timeout: timeout = 30 }, { name }) {
    // Drivers are loaded on open, so that `validate` does not wait for them.
    const [{ openPostgres }, { openKysely }] = await Promise.all([import('waypost/sql'), import('./open-kysely.ts')])
    const applicationName = `waypost ${name}`
    return openKysely(openPostgres({ url, applicationName, max, prepare, statementTimeoutMs: timeout * 1000 }))
  },
}
