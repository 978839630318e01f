import { shortId } from '../kit/index.ts'
import type { Transaction } from 'kysely'
import { recordChanges, type System, type SystemTables } from '../store/index.ts'
import { errors } from './errors.ts'

/** Who asked for something over HTTP. */
export interface Actor {
  readonly userId: string
  readonly clientId: string
}

export interface Activating {
  readonly id: string
  readonly kind: 'deploy' | 'rollback'
  readonly by: string
  readonly actor?: Actor | undefined
  readonly message?: string | undefined
  /** What a rollback from here goes to. */
  readonly previous: string | undefined
}

/** Puts whoever activates, rolls back or prunes one after another, until their transaction ends. */
export async function lockActive(system: System, trx: Transaction<SystemTables>): Promise<void> {
  await trx
    .selectFrom('waypost_active')
    .select('id')
    .$if(system.kind === 'postgresql', (query) => query.forUpdate())
    .execute()
}

/** Returns the id of the active release; undefined where nothing was deployed yet. */
export async function findActive(db: Pick<System['db'], 'selectFrom'>): Promise<{ readonly id: string } | undefined> {
  const row = await db.selectFrom('waypost_active').select('release_id as id').executeTakeFirst()
  return row === undefined || row.id === null ? undefined : { id: row.id }
}

/** @throws WP_RELEASE_SUPERSEDED when another release is active than somebody saw; `none` where none was */
export function assertActive(active: { readonly id: string } | undefined, against: string | undefined): void {
  const id = active?.id ?? 'none'
  if (against === undefined || id.startsWith(against)) return
  throw errors.WP_RELEASE_SUPERSEDED({ active: shortId(id), expected: shortId(against) })
}

/** Makes a release the active one, and tells every server. The caller holds the lock; it is the last thing that he does. */
export async function recordActivation(
  system: System,
  trx: Transaction<SystemTables>,
  { id, kind, by, actor, message, previous }: Activating,
): Promise<void> {
  const now = system.now()
  const { last } = await trx
    .selectFrom('waypost_activation')
    .select((column) => column.fn.max('number').as('last'))
    .executeTakeFirstOrThrow()
  const times = { activated_at: now, activated_by: by }
  const row = { number: (last ?? 0) + 1, release_id: id, previous_id: previous ?? null, kind, message: message ?? null }
  await trx
    .insertInto('waypost_activation')
    .values({ ...row, ...times, user_id: actor?.userId ?? null, client_id: actor?.clientId ?? null })
    .execute()
  await trx
    .updateTable('waypost_active')
    .set({ release_id: id, ...times })
    .execute()
  await recordChanges(system, trx, [{ kind: 'activation', subject: id }])
}

/** The last activation of a release. */
export function lastActivation(db: Pick<System['db'], 'selectFrom'>, id: string) {
  return db
    .selectFrom('waypost_activation')
    .selectAll()
    .where('release_id', '=', id)
    .orderBy('number', 'desc')
    .limit(1)
    .executeTakeFirst()
}
