import { Migrator } from '@mikro-orm/migrations'
import type { MikroORM as PostgresOrm } from '@mikro-orm/postgresql'
import type { MikroORM as SqlOrm } from '@mikro-orm/sql'
import { connectOrm } from './connect-orm.ts'
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
import { Audit } from './migrations/0010-audit.ts'
import { Operators } from './migrations/0011-operators.ts'
import { BackendClient } from './migrations/0012-backend-client.ts'
import { Statistics } from './migrations/0013-statistics.ts'
import { ActivationFiles } from './migrations/0014-activation-files.ts'
import { Variables } from './migrations/0015-variables.ts'
import { DeliveryDetails } from './migrations/0016-delivery-details.ts'
import { CronjobRuns } from './migrations/0017-cronjob-runs.ts'
import { AuditSubjects } from './migrations/0018-audit-subjects.ts'
import { Drafts } from './migrations/0019-drafts.ts'
import { PortalClient } from './migrations/0020-portal-client.ts'
import { SuccessInDelivery } from './migrations/0021-success-in-delivery.ts'
import { Lanes } from './migrations/0022-lanes.ts'
import { GrowingLists } from './migrations/0023-growing-lists.ts'
import { SignIns } from './migrations/0024-sign-ins.ts'
import { Delayed } from './migrations/0025-delayed.ts'
import { Listeners } from './migrations/0026-listeners.ts'
import { RunLogs } from './migrations/0027-run-logs.ts'
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
  Audit,
  Operators,
  BackendClient,
  Statistics,
  ActivationFiles,
  Variables,
  DeliveryDetails,
  CronjobRuns,
  AuditSubjects,
  Drafts,
  PortalClient,
  SuccessInDelivery,
  Lanes,
  GrowingLists,
  SignIns,
  Delayed,
  Listeners,
  RunLogs,
]

/**
 * Opens MikroORM with all entities and migrations.
 * @param schema the schema of PostgreSQL in which its table is; MikroORM would look in `public`, and create it
 */
export function openOrm(system: System, migrationTable: string, schema?: string): Promise<SqlOrm | PostgresOrm> {
  return connectOrm(system, {
    entities,
    extensions: [Migrator],
    // Ignore the tables of the application. PostgreSQL's names include the schema.
    schemaGenerator: { skipTables: [/^(?!([^.]+\.)?waypost_)/] },
    migrations: {
      tableName: migrationTable,
      ...(schema === undefined || schema === 'public' ? {} : { schema }),
      migrationsList: classes.map((migration, index) => ({ name: systemMigrations[index]!, class: migration })),
      snapshot: false,
      silent: true,
      transactional: true,
    },
  })
}
