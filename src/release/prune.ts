import type { System } from '../store/index.ts'

const kept = 20

/** Every save of a development makes a release: only the newest ones are kept, and the artifacts that they name. */
export async function pruneDevelopmentReleases(system: System): Promise<void> {
  await system.transaction(async (trx) => {
    const old = await trx
      .selectFrom('waypost_release')
      .select('id')
      .orderBy('created_at', 'desc')
      .offset(kept)
      .limit(1000)
      .execute()
    if (old.length < kept) return // in one go now and then, not with each save
    const active = trx.selectFrom('waypost_active').select('release_id')
    await trx
      .deleteFrom('waypost_release')
      .where(
        'id',
        'in',
        old.map((row) => row.id),
      )
      .where('id', 'not in', active.where('release_id', 'is not', null))
      .execute()
    const parts = trx.selectFrom('waypost_release')
    await trx
      .deleteFrom('waypost_release_part')
      .where('hash', 'not in', parts.select('project_hash'))
      .where('hash', 'not in', parts.select('backend_hash'))
      .execute()
    const manifests = await trx
      .selectFrom('waypost_release_part')
      .select('manifest')
      .where('kind', '=', 'project')
      .execute()
    const used = new Set(
      manifests.flatMap(({ manifest }) => Object.keys((JSON.parse(manifest) as { artifacts: object }).artifacts)),
    )
    const artifacts = await trx.selectFrom('waypost_artifact').select('hash').execute()
    const unused = artifacts.map((row) => row.hash).filter((hash) => !used.has(hash))
    for (let start = 0; start < unused.length; start += 500) {
      await trx
        .deleteFrom('waypost_artifact')
        .where('hash', 'in', unused.slice(start, start + 500))
        .execute()
    }
  })
}
