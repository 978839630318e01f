import { Type, type Static } from 'typebox'
import type { Kysely } from 'kysely'
import type { ConnectionClass } from 'waypost'
import { openPostgres } from 'waypost/sql'
import { openKysely } from './open-kysely.ts'

const Config = Type.Object(
  {
    url: Type.String({ description: 'postgresql://USER:PASSWORD@HOST:PORT/DATABASE', writeOnly: true, minLength: 1 }),
    max: Type.Optional(Type.Integer({ description: 'Connections at most', minimum: 1, maximum: 1000, default: 10 })),
  },
  { additionalProperties: false },
)

/** A PostgreSQL database, pooled; the first query makes the first connection. */
export const postgresql: ConnectionClass<Static<typeof Config>, Kysely<unknown>> = {
  description: 'A PostgreSQL database',
  config: Config,
  clientType: "import('waypost').Kysely<{Tables}>",
  migrations: 'postgresql',
  async open({ url, max }, { name }) {
    return openKysely(openPostgres({ url, applicationName: `waypost ${name}`, ...(max === undefined ? {} : { max }) }))
  },
}
