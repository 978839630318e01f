import { shortId } from '../kit/index.ts'
import type { HttpActor, System } from '../store/index.ts'
import { errors } from './errors.ts'
import type { ActivationKind } from './history.ts'

/** A release in System with its last activation. */
export interface ListedRelease {
  readonly id: string
  readonly isActive: boolean
  readonly kind: ActivationKind
  readonly activatedAt: number
  readonly activatedBy: string
  /** The message of the last activation, or the one given at creation. */
  readonly message: string | undefined
  /** The Git commit of its definition files. */
  readonly commit: string | undefined
  readonly createdAt: number
}

/** Lists releases by their last activation, newest first. */
export async function listReleases({ db }: Pick<System, 'db'>, limit: number): Promise<readonly ListedRelease[]> {
  const active = db.selectFrom('waypost_active').select('release_id')
  const rows = await db
    .selectFrom('waypost_release as release')
    // Releases from before activations were recorded use their creation time.
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
    .select('activation.git_commit')
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
    commit: row.git_commit ?? undefined,
    createdAt: row.created_at,
  }))
}

/** One activation of a release. */
export interface ListedActivation {
  /** Increases with each activation. */
  readonly number: number
  readonly kind: ActivationKind
  readonly activatedAt: number
  readonly activatedBy: string
  /** The user and client of the token if the request came over HTTP. */
  readonly actor: Partial<Pick<HttpActor, 'userId' | 'clientId'>>
  readonly message: string | undefined
  /** The Git commit of its definition files. */
  readonly commit: string | undefined
  /** The hash of the list of its definition files; undefined if it keeps none. */
  readonly files: string | undefined
}

/** Lists the activations of a release, newest first. */
export async function listActivations(
  { db }: Pick<System, 'db'>,
  id: string,
  limit: number,
): Promise<readonly ListedActivation[]> {
  const rows = await db
    .selectFrom('waypost_activation')
    .select(['kind', 'activated_at', 'activated_by', 'user_id', 'client_id', 'message'])
    .select(['number', 'git_commit', 'files'])
    .where('release_id', '=', id)
    .orderBy('number', 'desc')
    .limit(limit)
    .execute()
  return rows.map((row) => ({
    number: row.number,
    kind: row.kind,
    activatedAt: row.activated_at,
    activatedBy: row.activated_by,
    actor: row.user_id === null || row.client_id === null ? {} : { userId: row.user_id, clientId: row.client_id },
    message: row.message ?? undefined,
    commit: row.git_commit ?? undefined,
    files: row.files ?? undefined,
  }))
}

/**
 * Loads the row of a release.
 * @throws WP_RELEASE_UNKNOWN
 */
export function loadReleaseRow({ db }: Pick<System, 'db'>, id: string) {
  const row = db.selectFrom('waypost_release').selectAll().where('id', '=', id)
  return row.executeTakeFirstOrThrow(() => errors.WP_RELEASE_UNKNOWN({ id: shortId(id) }))
}

const maxNamed = 5

/**
 * Returns the id of the release whose id begins with the text.
 * @throws WP_RELEASE_UNKNOWN, WP_RELEASE_AMBIGUOUS
 */
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
  const names = rows.slice(0, maxNamed).map(({ id }) => uniquePrefix(id, rows))
  const more = rows.length > maxNamed ? ', …' : ''
  throw errors.WP_RELEASE_AMBIGUOUS({ id: beginning, count: rows.length, ids: `${names.join(', ')}${more}` })
}

/** Returns the shortest unique prefix of an id, but at least the short id. */
function uniquePrefix(id: string, rows: readonly { readonly id: string }[]): string {
  const others = rows.filter((row) => row.id !== id)
  let length = shortId(id).length
  while (others.some((other) => other.id.startsWith(id.slice(0, length)))) length += 1
  return id.slice(0, length)
}

/** Records that a server serves a release. Other servers may fall back to it. */
export async function recordReleaseServed(system: System, id: string): Promise<void> {
  await system.db.updateTable('waypost_release').set({ came_up_at: system.now() }).where('id', '=', id).execute()
}

/** Returns the ids of releases that any server has served, the latest first. */
export async function listServedReleases(
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
