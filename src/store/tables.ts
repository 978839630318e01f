import type { InferKyselyDB } from '@mikro-orm/sql'
import type { entities } from './entities.ts'

/** Waypost's own tables as Kysely sees them, inferred from the entities. */
export type SystemTables = InferKyselyDB<(typeof entities)[number]>
