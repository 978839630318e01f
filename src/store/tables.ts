import type { InferKyselyDB } from '@mikro-orm/sql'
import type { entities } from './entities.ts'

/** The types of Waypost's own tables for Kysely, inferred from the entities. */
export type SystemTables = InferKyselyDB<(typeof entities)[number]>
