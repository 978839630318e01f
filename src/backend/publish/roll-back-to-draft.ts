import type { Texts } from '../../definition/index.ts'
import { shortId } from '../../kit/index.ts'
import {
  listActivations,
  loadDraftRows,
  loadFiles,
  lockActive,
  releaseErrors,
  rollBack,
  storeDraft,
  type Activated,
  type ActivateOptions,
  type NextDraft,
} from '../../release/index.ts'
import { inOneTransaction, type System } from '../../store/index.ts'
import { listDraftChanges } from '../draft/system/draft-changes.ts'
import { errors } from '../errors.ts'

type Listed = ReturnType<typeof listDraftChanges>

interface DraftOptions {
  readonly author: NonNullable<NextDraft['by']>
  /** Servers list changes in a thread. */
  readonly listChanges?: ((base: Texts, texts: Texts) => Listed | Promise<Listed>) | undefined
}

/**
 * Activates a stored release again, and makes the files of the undone one the draft, in one transaction. Its changes have
 * the given author.
 * @throws WP_BACKEND_ROLLBACK_DRAFT if the draft has changes, WP_RELEASE_NO_FILES, WP_RELEASE_ACTIVATED_SINCE, and the
 * errors of `rollBack`
 */
export async function rollBackToDraft(
  system: System,
  id: string,
  { author, listChanges = listDraftChanges, ...options }: ActivateOptions & DraftOptions,
): Promise<Activated> {
  const { active, draft } = await loadDraftRows(system.db)
  if (draft !== undefined) throw errors.WP_BACKEND_ROLLBACK_DRAFT()
  const [target] = await listActivations(system, id, 1)
  const restored = await loadVersion(system, id, target?.files)
  const undone = await loadVersion(system, active?.release ?? id, active?.files)
  const names = (await listChanges(toTexts(restored), toTexts(undone))).map(({ name }) => name)
  return inOneTransaction(system, (joined) =>
    joined.transaction(async (trx) => {
      await lockActive(joined, trx)
      if ((await loadDraftRows(trx)).draft !== undefined) throw errors.WP_BACKEND_ROLLBACK_DRAFT()
      const done = await rollBack(joined, id, { ...options, after: active?.number ?? 0 })
      const now = await loadDraftRows(trx)
      if (done.activated && names.length > 0)
        await storeDraft(joined, trx, { base: now.active!, files: undone, names, made: names, by: author })
      return done
    }),
  )
}

function loadVersion(system: System, id: string, list: string | undefined) {
  if (list === undefined) throw releaseErrors.WP_RELEASE_NO_FILES({ id: shortId(id) })
  return loadFiles(system, list)
}

function toTexts(files: Awaited<ReturnType<typeof loadFiles>>): Texts {
  return new Map(files.map(({ path, content }) => [path, content]))
}
