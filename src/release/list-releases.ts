import { shortId } from '../kit/index.ts'
import type { System } from '../store/index.ts'
import { errors } from './errors.ts'
import type { Actor } from './history.ts'

/** A release that System has, and when it was made the active one last. */
export interface ListedRelease {
  readonly id: string
  readonly isActive: boolean
  readonly kind: 'deploy' | 'rollback'
  readonly activatedAt: number
  readonly activatedBy: string
  /** What was said at its last activation, else when it was made. */
  readonly message: string | undefined
  readonly createdAt: number
}

/** Releases by their last activation, the newest first. */
export async function listReleases({ db }: Pick<System, 'db'>, limit: number): Promise<readonly ListedRelease[]> {
  const active = db.selectFrom('waypost_active').select('release_id')
  const rows = await db
    .selectFrom('waypost_release as release')
    // What was activated before Waypost kept each activation stands by the time at which it was made.
    .leftJoin('waypost_activation as activation', (join) =>
      join.onRef('activation.release_id', '=', 'release.id').on('activation.number', '=', (column) =>
        column
          .selectFrom('waypost_activation as last')
          .select((last) => last.fn.max('number').as('number'))
          .whereRef('last.release_id', '=', 'release.id'),
      ),
    )
    .select(['release.id', 'release.created_at', 'release.created_by', 'release.message as first_message'])
    .select(['activation.kind', 'activation.activated_at', 'activation.activated_by', 'activation.message'])
    .select((column) => column('release.id', 'in', active).as('is_active'))
    .orderBy((column) => column.fn.coalesce('activation.activated_at', 'release.created_at'), 'desc')
    .orderBy((column) => column.fn.coalesce('activation.number', column.lit(0)), 'desc')
    .limit(limit)
    .execute()
  return rows.map((row) => ({
    id: row.id,
    isActive: Boolean(row.is_active),
    kind: row.kind ?? 'deploy',
    activatedAt: row.activated_at ?? row.created_at,
    activatedBy: row.activated_by ?? row.created_by,
    message: row.message ?? (row.kind === 'rollback' ? null : row.first_message) ?? undefined,
    createdAt: row.created_at,
  }))
}

/** One time that a release was made the active one. */
export interface ListedActivation {
  readonly kind: 'deploy' | 'rollback'
  readonly activatedAt: number
  readonly activatedBy: string
  /** Whose token it was, and its client, where it came over HTTP. */
  readonly actor: Partial<Actor>
  readonly message: string | undefined
}

/** When a release was made the active one, the last time first. */
export async function listActivations(
  { db }: Pick<System, 'db'>,
  id: string,
  limit: number,
): Promise<readonly ListedActivation[]> {
  const rows = await db
    .selectFrom('waypost_activation')
    .select(['kind', 'activated_at', 'activated_by', 'user_id', 'client_id', 'message'])
    .where('release_id', '=', id)
    .orderBy('number', 'desc')
    .limit(limit)
    .execute()
  return rows.map((row) => ({
    kind: row.kind,
    activatedAt: row.activated_at,
    activatedBy: row.activated_by,
    actor: row.user_id === null || row.client_id === null ? {} : { userId: row.user_id, clientId: row.client_id },
    message: row.message ?? undefined,
  }))
}

/** What System notes of a release beside what it says. @throws WP_RELEASE_UNKNOWN */
export function loadReleaseRow({ db }: Pick<System, 'db'>, id: string) {
  const row = db.selectFrom('waypost_release').selectAll().where('id', '=', id)
  return row.executeTakeFirstOrThrow(() => errors.WP_RELEASE_UNKNOWN({ id: shortId(id) }))
}

const mostNamed = 5

/** The id of the one release whose id begins so. @throws WP_RELEASE_UNKNOWN, WP_RELEASE_AMBIGUOUS */
export async function findRelease({ db }: Pick<System, 'db'>, beginning: string): Promise<string> {
  const wanted = beginning.toLowerCase()
  if (!/^[\da-f]{1,64}$/.test(wanted)) throw errors.WP_RELEASE_UNKNOWN({ id: beginning.slice(0, 64) })
  const rows = await db
    .selectFrom('waypost_release')
    .select('id')
    .where('id', '>=', wanted)
    .where('id', '<=', wanted.padEnd(64, 'f'))
    .orderBy('id')
    .execute()
  const [first, ...others] = rows
  if (first === undefined) throw errors.WP_RELEASE_UNKNOWN({ id: beginning })
  if (others.length === 0) return first.id
  const names = rows.slice(0, mostNamed).map(({ id }) => distinct(id, rows))
  const more = rows.length > mostNamed ? ', …' : ''
  throw errors.WP_RELEASE_AMBIGUOUS({ id: beginning, count: rows.length, ids: `${names.join(', ')}${more}` })
}

/** As much of an id as tells it from all the others, and at least what is shown elsewhere. */
function distinct(id: string, rows: readonly { readonly id: string }[]): string {
  const others = rows.filter((row) => row.id !== id)
  let length = shortId(id).length
  while (others.some((other) => other.id.startsWith(id.slice(0, length)))) length += 1
  return id.slice(0, length)
}

/** Notes that a server serves a release: others may fall back to it. */
export async function noteCameUp(system: System, id: string): Promise<void> {
  await system.db.updateTable('waypost_release').set({ came_up_at: system.now() }).where('id', '=', id).execute()
}

/** Ids of releases that came up on any server, the last one first. */
export async function listCameUp(
  { guardDb }: Pick<System, 'guardDb'>,
  { except, limit }: { readonly except: string; readonly limit: number },
): Promise<readonly string[]> {
  const rows = await guardDb
    .selectFrom('waypost_release')
    .select('id')
    .where('came_up_at', 'is not', null)
    .where('id', '<>', except)
    .orderBy('came_up_at', 'desc')
    .limit(limit)
    .execute()
  return rows.map(({ id }) => id)
}
