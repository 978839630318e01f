import { Migrator } from '@mikro-orm/migrations'
import { MikroORM as PostgresOrm } from '@mikro-orm/postgresql'
import { SqliteDriver, MikroORM as SqlOrm } from '@mikro-orm/sql'
import { entities } from './entities.ts'
import { InitialTables } from './migrations/0001-initial-tables.ts'
import { systemMigrations } from './migrations/names.ts'
import type { System } from './system.ts'

const classes = [InitialTables]

/** MikroORM over the connections that System has open; closing System closes it. */
export async function openOrm(system: System, migrationTable: string): Promise<SqlOrm | PostgresOrm> {
  const options = {
    entities,
    dbName: 'waypost',
    driverOptions: system.db,
    extensions: [Migrator],
    migrations: {
      tableName: migrationTable,
      migrationsList: classes.map((migration, index) => ({ name: systemMigrations[index]!, class: migration })),
      snapshot: false,
      silent: true,
      transactional: true,
    },
    implicitTransactions: false,
  }
  return system.kind === 'postgresql'
    ? new PostgresOrm(options as never)
    : new SqlOrm({ ...options, driver: SqliteDriver } as never)
}

