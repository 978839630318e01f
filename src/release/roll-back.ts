import { shortId } from '../kit/index.ts'
import type { System } from '../store/index.ts'
import type { Activated, ActivateOptions } from './activate.ts'
import { errors } from './errors.ts'
import {
  findActive,
  assertActive,
  assertLastActivation,
  findLastActivation,
  lockActive,
  recordActivation,
} from './history.ts'

/**
 * Returns the default target of a rollback: the release that was active before the active one was deployed. After a
 * rollback this is one further back, never the release that was rolled back.
 * @throws WP_RELEASE_NO_PREVIOUS
 */
export async function findPrevious({ db }: Pick<System, 'db'>): Promise<string> {
  const active = await findActive(db)
  if (active === undefined) throw errors.WP_RELEASE_NO_PREVIOUS({ reason: 'none is active' })
  const previous = (await findLastActivation(db, active.id))?.previous_id ?? undefined
  const name = shortId(active.id)
  if (previous === undefined) throw errors.WP_RELEASE_NO_PREVIOUS({ reason: `none was active before ${name}` })
  const release = db.selectFrom('waypost_release').select('id').where('id', '=', previous)
  if ((await release.executeTakeFirst()) !== undefined) return previous
  const reason = `${shortId(previous)}, which was active before ${name}, was pruned`
  throw errors.WP_RELEASE_NO_PREVIOUS({ reason })
}

/**
 * Activates a stored release again, in one transaction.
 * @throws WP_RELEASE_SUPERSEDED if neither `against` nor this release is active, WP_RELEASE_ACTIVATED_SINCE,
 * WP_RELEASE_UNKNOWN
 */
export async function rollBack(system: System, id: string, options: ActivateOptions): Promise<Activated> {
  return system.transaction(async (trx) => {
    await lockActive(system, trx)
    const active = await findActive(trx)
    if (active?.id === id) return { id, activated: false }
    if (options.after !== undefined) await assertLastActivation(trx, options.after)
    assertActive(active, options.against)
    const release = trx.selectFrom('waypost_release').select('id').where('id', '=', id)
    if ((await release.executeTakeFirst()) === undefined) throw errors.WP_RELEASE_UNKNOWN({ id: shortId(id) })
    const before = await findLastActivation(trx, id)
    await recordActivation(system, trx, {
      id,
      kind: 'rollback',
      by: options.by,
      actor: options.actor,
      message: options.message,
      previous: before?.previous_id ?? undefined,
      files: before?.files ?? undefined,
      commit: before?.git_commit ?? undefined,
      fromGit: before?.from_git ?? null,
    })
    return { id, activated: true }
  })
}
