import { shortId } from '../kit/index.ts'
import type { Transaction } from 'kysely'
import { recordChanges, writeAudit, type Actor, type System, type SystemTables } from '../store/index.ts'
import { errors } from './errors.ts'

/** How a release became active: by `deploy`, by publishing in the backend, or by a rollback. */
export type ActivationKind = 'deploy' | 'backend' | 'rollback'

export interface ActivationRecord {
  readonly id: string
  readonly kind: ActivationKind
  readonly by: string
  /** For the audit log; undefined in development and tests. */
  readonly actor?: Actor | undefined
  readonly message?: string | undefined
  /** The release to which a rollback from here returns. */
  readonly previous: string | undefined
  /** The hash of the list of its definition files. */
  readonly files: string | undefined
  readonly commit?: string | undefined
  /** The number of the activation whose files were last in Git; this one by default. */
  readonly fromGit?: number | null | undefined
  /** Whether the release was already active: servers have nothing to do. */
  readonly isSame?: boolean
}

/** Serializes activations, rollbacks and pruning until the end of the transaction. */
export async function lockActive(system: System, trx: Transaction<SystemTables>): Promise<void> {
  await trx
    .selectFrom('waypost_active')
    .select('id')
    .$if(system.kind === 'postgresql', (query) => query.forUpdate())
    .execute()
}

/** Returns the id of the active release; undefined before the first deployment. */
export async function findActive(db: Pick<System['db'], 'selectFrom'>): Promise<{ readonly id: string } | undefined> {
  const row = await db.selectFrom('waypost_active').select('release_id as id').executeTakeFirst()
  return row === undefined || row.id === null ? undefined : { id: row.id }
}

/**
 * Checks which release is active; `none` means that no release may be active.
 * @throws WP_RELEASE_SUPERSEDED if another release is active
 */
export function assertActive(active: { readonly id: string } | undefined, against: string | undefined): void {
  const id = active?.id ?? 'none'
  if (against === undefined || id.startsWith(against)) return
  throw errors.WP_RELEASE_SUPERSEDED({ active: shortId(id), expected: shortId(against) })
}

/** Returns the number of the last activation; 0 before the first one. */
export async function findLastNumber(db: Pick<System['db'], 'selectFrom'>): Promise<number> {
  const { last } = await db
    .selectFrom('waypost_activation')
    .select((column) => column.fn.max('number').as('last'))
    .executeTakeFirstOrThrow()
  return last ?? 0
}

/**
 * Checks that no activation followed, also of the same release with other definition files.
 * @throws WP_RELEASE_ACTIVATED_SINCE
 */
export async function assertLastActivation(db: Pick<System['db'], 'selectFrom'>, expected: number): Promise<void> {
  const number = await findLastNumber(db)
  if (number === expected) return
  const row = await db
    .selectFrom('waypost_activation')
    .select(['release_id as id', 'activated_by as by'])
    .where('number', '=', number)
    .executeTakeFirst()
  throw errors.WP_RELEASE_ACTIVATED_SINCE({ active: shortId(row?.id ?? 'none'), by: row?.by ?? 'unknown' })
}

/** Returns who activated releases after an activation, and when the last time; undefined if several people did. */
export async function findActivatorSince(
  { db }: Pick<System, 'db'>,
  number: number,
): Promise<{ readonly by: string; readonly at: number } | undefined> {
  const rows = await db
    .selectFrom('waypost_activation as activation')
    .leftJoin('waypost_user as user', 'user.id', 'activation.user_id')
    .select(({ fn }) => [
      fn.coalesce('user.name', 'activation.activated_by').as('by'),
      fn.max('activation.activated_at').as('at'),
    ])
    .where('activation.number', '>', number)
    .groupBy('by')
    .limit(2)
    .execute()
  return rows.length === 1 ? rows[0] : undefined
}

/** Returns the number of the activation whose files were last in Git, as of the last activation. */
export async function findGitActivation(db: Pick<System['db'], 'selectFrom'>): Promise<number | null> {
  const row = await db
    .selectFrom('waypost_activation')
    .select('from_git')
    .orderBy('number', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.from_git ?? null
}

/**
 * Activates a release, writes its audit row, and notifies all servers unless it was already active. The caller holds the
 * lock. Call it last in the transaction.
 */
export async function recordActivation(
  system: System,
  trx: Transaction<SystemTables>,
  { id, kind, by, actor, message, previous, files, commit, fromGit, isSame }: ActivationRecord,
): Promise<void> {
  const times = { activated_at: system.now(), activated_by: by }
  const number = (await findLastNumber(trx)) + 1
  const row = {
    number,
    release_id: id,
    previous_id: previous ?? null,
    kind,
    message: message ?? null,
    files: files ?? null,
    git_commit: commit ?? null,
    from_git: fromGit === undefined ? number : fromGit,
  }
  const caller = actor?.how === 'http' ? actor : undefined
  await trx
    .insertInto('waypost_activation')
    .values({ ...row, ...times, user_id: caller?.userId ?? null, client_id: caller?.clientId ?? null })
    .execute()
  if (actor !== undefined) {
    const active = await findActive(trx)
    await writeAudit({ ...system, db: trx }, actor, {
      action: kind === 'rollback' ? 'release.rollback' : 'release.activate',
      subject: { id, name: shortId(id) },
      before: active && { release: shortId(active.id) },
      after: { release: shortId(id), message },
    })
  }
  await trx
    .updateTable('waypost_active')
    .set({ release_id: id, ...times })
    .execute()
  if (isSame !== true) await recordChanges(system, trx, [{ kind: 'activation', subject: id }])
}

/** Returns the last activation of a release. */
export function findLastActivation(db: Pick<System['db'], 'selectFrom'>, id: string) {
  return db
    .selectFrom('waypost_activation')
    .selectAll()
    .where('release_id', '=', id)
    .orderBy('number', 'desc')
    .limit(1)
    .executeTakeFirst()
}
