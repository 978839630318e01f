import { makeUuid } from '../../kit/index.ts'
import { assertLastActivation, lockActive } from '../../release/index.ts'
import type { System, SystemTables } from '../../store/index.ts'
import { errors } from '../errors.ts'

/** After this time without an update, a running publication counts as failed because its server has stopped. */
const silentMs = 30_000

export type PublicationState = 'migrating' | 'activating' | 'activated' | 'failed'

/** A publication of the draft, running or finished. */
export interface Publication {
  readonly id: string
  readonly state: PublicationState
  /** The id of the release that it makes. */
  readonly release: string
  readonly message: string | undefined
  readonly by: string
  /** In milliseconds since 1970. */
  readonly createdAt: number
  /** The migrations that have run, as `Connection/name`. */
  readonly migrated: readonly string[]
  readonly error: PublicationError | undefined
}

export interface PublicationError {
  readonly code: string
  readonly message: string
  readonly hint: string | undefined
}

export interface NewPublication {
  /** The number of the last activation, on which the release is based; 0 if there is none. */
  readonly after: number
  readonly state: 'migrating' | 'activating'
  readonly release: string
  readonly message: string | undefined
  readonly by: { readonly id: string; readonly name: string }
}

interface Detail {
  readonly migrated: readonly string[]
  readonly error?: PublicationError | undefined
}

const running = ['migrating', 'activating'] as const

/**
 * Records a publication that begins. Only one runs at a time, on all servers.
 * @returns the publication, or the one that is running
 * @throws WP_RELEASE_ACTIVATED_SINCE
 */
export async function beginPublication(
  system: System,
  { state, release, message, by, after }: NewPublication,
): Promise<{ readonly begun: string } | { readonly running: Publication }> {
  return system.transaction(async (trx) => {
    await lockActive(system, trx) // held until the row is visible to others
    const row = await selectPublications({ ...system, db: trx })
      .where('state', 'in', running)
      .executeTakeFirst()
    const found = row && toPublication(row)
    if (found !== undefined && found.state !== 'failed') return { running: found }
    await assertLastActivation(trx, after) // another publication may have ended since the plan was made
    if (found !== undefined) await write({ ...system, db: trx }, found.id, { ...found, state: 'failed' })
    const id = makeUuid()
    const times = { created_at: system.now(), updated_at: system.now() }
    const detail = JSON.stringify({ migrated: [] } satisfies Detail)
    await trx
      .insertInto('waypost_publish')
      .values({
        id,
        state,
        release_id: release,
        message: message ?? null,
        by_id: by.id,
        by_name: by.name,
        detail,
        ...times,
      })
      .execute()
    return { begun: id }
  })
}

/**
 * Writes the progress of a running publication.
 * @throws WP_BACKEND_PUBLISH_STOPPED if it counts as failed, because this server was silent for too long
 */
export async function updatePublication(
  system: Pick<System, 'db' | 'now'>,
  id: string,
  progress: Pick<Publication, 'state' | 'migrated'> & { readonly error?: PublicationError | undefined },
): Promise<void> {
  if (!(await write(system, id, progress))) throw errors.WP_BACKEND_PUBLISH_STOPPED()
}

async function write(
  { db, now }: Pick<System, 'db' | 'now'>,
  id: string,
  {
    state,
    migrated,
    error,
  }: Pick<Publication, 'state' | 'migrated'> & { readonly error?: PublicationError | undefined },
): Promise<boolean> {
  const detail = JSON.stringify({ migrated, error } satisfies Detail)
  const { numUpdatedRows } = await db
    .updateTable('waypost_publish')
    .set({ state, detail, updated_at: now() })
    .where('id', '=', id)
    .where('state', 'in', running)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** Shows other servers that a publication is still running. */
export async function keepAlive({ db, now }: Pick<System, 'db' | 'now'>, id: string): Promise<void> {
  await db
    .updateTable('waypost_publish')
    .set({ updated_at: now() })
    .where('id', '=', id)
    .where('state', 'in', running)
    .execute()
}

/** @throws WP_BACKEND_PUBLISH_UNKNOWN */
export async function findPublication(system: System, id: string): Promise<Publication> {
  const row = await selectPublications(system).where('id', '=', id).executeTakeFirst()
  if (row === undefined) throw errors.WP_BACKEND_PUBLISH_UNKNOWN({ id })
  return toPublication(row)
}

/** Returns the id of the running publication, or of the last one. */
export async function findLastPublication({ db }: Pick<System, 'db'>): Promise<string | undefined> {
  const row = await db
    .selectFrom('waypost_publish')
    .select('id')
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst()
  return row?.id
}

/** Returns the names of the migrations of a connection that publications ran, including publications that failed later. */
export async function listPublishedMigrations({ db }: Pick<System, 'db'>, connection: string): Promise<string[]> {
  const prefix = `${connection}/`
  const rows = await db.selectFrom('waypost_publish').select('detail').where('detail', 'like', `%"${prefix}%`).execute()
  return rows
    .flatMap(({ detail }) => (JSON.parse(detail) as Detail).migrated)
    .filter((name) => name.startsWith(prefix))
    .map((name) => name.slice(prefix.length))
}

function selectPublications({ db, now }: Pick<System, 'db' | 'now'>) {
  return db
    .selectFrom('waypost_publish')
    .selectAll()
    .select((column) => column(now(), '-', column.ref('updated_at')).as('silent_ms'))
}

type PublicationRow = SystemTables['waypost_publish'] & { readonly silent_ms: number }

function toPublication(row: PublicationRow): Publication {
  const { migrated, error } = JSON.parse(row.detail) as Detail
  const isStopped = running.some((state) => state === row.state) && row.silent_ms > silentMs
  return {
    id: row.id,
    state: isStopped ? 'failed' : row.state,
    release: row.release_id ?? '',
    message: row.message ?? undefined,
    by: row.by_name,
    createdAt: row.created_at,
    migrated,
    error: isStopped ? describeError(errors.WP_BACKEND_PUBLISH_STOPPED()) : error,
  }
}

/** Returns the parts of an error that are shown to administrators. */
export function describeError({ code, message, hint }: PublicationError): PublicationError {
  return { code, message, hint }
}
