import type { Kysely } from 'kysely'
import type { ConnectionClass } from 'waypost'

interface Config {
  readonly url: string
  readonly max?: number
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
  },
  additionalProperties: false,
}

/** A PostgreSQL database with a connection pool. The first query connects. */
export const postgresql: ConnectionClass<Config, Kysely<unknown>> = {
  description: 'A PostgreSQL database',
  config,
  clientType: "import('waypost').Kysely<{Tables}>",
  migrations: 'postgresql',
  async open({ url, max }, { name }) {
    // Drivers are loaded on open, so that `validate` does not wait for them.
    const [{ openPostgres }, { openKysely }] = await Promise.all([import('waypost/sql'), import('./open-kysely.ts')])
    return openKysely(openPostgres({ url, applicationName: `waypost ${name}`, ...(max === undefined ? {} : { max }) }))
  },
}
