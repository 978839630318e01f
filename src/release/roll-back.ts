import { shortId } from '../kit/index.ts'
import type { System } from '../store/index.ts'
import type { Activation, ActivateOptions } from './activate.ts'
import { errors } from './errors.ts'
import type { LackingVariable } from './live-servers.ts'
import type { Manifest } from './manifest.ts'
import { findActive, assertActive, lastActivation, lockActive, recordActivation } from './history.ts'

/** What stands at a System, seen from a release that somebody wants to go back to. */
export interface RollbackSurvey {
  readonly id: string
  readonly manifest: Manifest
  /** What is active; what is damaged of it keeps nobody from going back. */
  readonly active: { readonly id: string; readonly manifest: Manifest | undefined } | undefined
  /** Variables that the release needs and living servers lack. */
  readonly lackingVariables: readonly LackingVariable[]
  /** Migrations that ran since and whose code no release has any more: whether they are breaking nobody can tell. */
  readonly unknownMigrations: readonly string[]
  /** Connections that could not be opened, to see which migrations ran on them. */
  readonly unreachable: readonly string[]
}

/**
 * The release that a rollback goes to by itself: the one that was active before the active one was deployed. After a
 * rollback that is one further back, never the release that it went back from.
 * @throws WP_RELEASE_NO_PREVIOUS
 */
export async function findPrevious({ db }: Pick<System, 'db'>): Promise<string> {
  const active = await findActive(db)
  if (active === undefined) throw errors.WP_RELEASE_NO_PREVIOUS({ reason: 'none is active' })
  const previous = (await lastActivation(db, active.id))?.previous_id ?? undefined
  const name = shortId(active.id)
  if (previous === undefined) throw errors.WP_RELEASE_NO_PREVIOUS({ reason: `none was active before ${name}` })
  const release = db.selectFrom('waypost_release').select('id').where('id', '=', previous)
  if ((await release.executeTakeFirst()) !== undefined) return previous
  const reason = `${shortId(previous)}, which was active before ${name}, was pruned`
  throw errors.WP_RELEASE_NO_PREVIOUS({ reason })
}

/**
 * Makes a release that is stored the active one again, in one transaction.
 * @throws WP_RELEASE_SUPERSEDED when neither `against` nor this one is the active release, WP_RELEASE_UNKNOWN
 */
export async function rollBack(system: System, id: string, options: ActivateOptions): Promise<Activation> {
  return system.transaction(async (trx) => {
    await lockActive(system, trx)
    const active = await findActive(trx)
    if (active?.id === id) return { id, activated: false }
    assertActive(active, options.against)
    const release = trx.selectFrom('waypost_release').select('id').where('id', '=', id)
    if ((await release.executeTakeFirst()) === undefined) throw errors.WP_RELEASE_UNKNOWN({ id: shortId(id) })
    const before = await lastActivation(trx, id)
    await recordActivation(system, trx, {
      id,
      kind: 'rollback',
      ...options,
      previous: before?.previous_id ?? undefined,
    })
    return { id, activated: true }
  })
}
