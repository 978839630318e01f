import { Migrator } from '@mikro-orm/migrations'
import { MikroORM as PostgresOrm } from '@mikro-orm/postgresql'
import { SqliteDriver, MikroORM as SqlOrm } from '@mikro-orm/sql'
import { entities } from './entities.ts'
import { InitialTables } from './migrations/0001-initial-tables.ts'
import { AuthorizationCode } from './migrations/0002-authorization-code.ts'
import { Events } from './migrations/0003-events.ts'
import { FewerIndexes } from './migrations/0004-fewer-indexes.ts'
import { Releases } from './migrations/0005-releases.ts'
import { FailingSince } from './migrations/0006-failing-since.ts'
import { SubscriptionClients } from './migrations/0007-subscription-clients.ts'
import { OneSource } from './migrations/0008-one-source.ts'
import { AttemptShards } from './migrations/0009-attempt-shards.ts'
import { systemMigrations } from './migrations/names.ts'
import type { System } from './system.ts'

const classes = [
  InitialTables,
  AuthorizationCode,
  Events,
  FewerIndexes,
  Releases,
  FailingSince,
  SubscriptionClients,
  OneSource,
  AttemptShards,
]

/**
 * MikroORM over a Kysely instance of its own on the handles or pool that System has open; closing it leaves those open.
 * What it throws of ours it wraps: the code stays, the name does not.
 * @param migrationTable only for migrations
 */
export async function openOrm(system: System, migrationTable?: string): Promise<SqlOrm | PostgresOrm> {
  const { database } = system
  const options = {
    entities,
    // It looks for a database of this name, and makes it where there is none.
    dbName: database.kind === 'sqlite' ? database.file : database.target.database,
    driverOptions: database.dialect(),
    ensureDatabase: false,
    implicitTransactions: false,
    extensions: [Migrator],
    // The tables of the application are none of its business. PostgreSQL's names carry their schema.
    schemaGenerator: { skipTables: [/^(?!([^.]+\.)?waypost_)/] },
    migrations: {
      ...(migrationTable === undefined ? {} : { tableName: migrationTable }),
      migrationsList: classes.map((migration, index) => ({ name: systemMigrations[index]!, class: migration })),
      snapshot: false,
      silent: true,
      transactional: true,
    },
  }
  return system.kind === 'postgresql'
    ? new PostgresOrm(options as never)
    : new SqlOrm({ ...options, driver: SqliteDriver } as never)
}
