import type { Transaction } from 'kysely'
import type { System, SystemTables } from '../store/index.ts'
import { inBatches } from './batches.ts'
import { storeFiles, type DefinitionFile } from './definition-files.ts'
import { lockActive } from './history.ts'

/** The number, release and definition files of an activation. */
export interface ActivationFiles {
  readonly number: number
  readonly release: string
  /** The hash of the list of its definition files; undefined if it keeps none. */
  readonly files: string | undefined
}

/** The stored draft. A draft without changes is not stored. */
export interface StoredDraft {
  /** The number of the activation that it changes; 0 for none. */
  readonly base: number
  /** The hash of the list of that activation's files. */
  readonly baseFiles: string | undefined
  /** The hash of the list of its own files. */
  readonly files: string
  readonly changedAt: number
}

/** The rows of the draft and of the active release at one time. */
export interface DraftRows {
  /** The last activation; undefined before the first deployment. */
  readonly active: ActivationFiles | undefined
  readonly draft: StoredDraft | undefined
}

export async function loadDraftRows(db: Pick<System['db'], 'selectFrom'>): Promise<DraftRows> {
  // The draft first: if a publication ends in between, its base is not newer than the activation.
  const draft = await db.selectFrom('waypost_draft').selectAll().executeTakeFirst()
  const active = await db
    .selectFrom('waypost_activation')
    .select(['number', 'release_id as release', 'files'])
    .orderBy('number', 'desc')
    .limit(1)
    .executeTakeFirst()
  return {
    active: active && { ...active, files: active.files ?? undefined },
    draft: draft && {
      base: draft.base,
      baseFiles: draft.base_files ?? undefined,
      files: draft.files,
      changedAt: draft.changed_at,
    },
  }
}

/** A new state of the draft. */
export interface NextDraft {
  readonly base: Pick<ActivationFiles, 'number' | 'files'>
  /** Undefined if nothing differs from the base. */
  readonly files: readonly DefinitionFile[] | undefined
  /** Hashes of files that are already stored. */
  readonly stored?: ReadonlySet<string>
  /** The names of all changes. */
  readonly names: readonly string[]
  /** The names of those that `by` made now. */
  readonly made: readonly string[]
  /** The id is null for a command. */
  readonly by?: { readonly id: string | null; readonly name: string } | undefined
}

/**
 * Replaces the draft if no one has changed it, and no release was activated, since it was read.
 * @returns whether it was replaced
 */
export function replaceDraft(system: System, expected: DraftRows, next: NextDraft): Promise<boolean> {
  return system.transaction(async (trx) => {
    await lockActive(system, trx)
    const { active, draft } = await loadDraftRows(trx)
    const isSame =
      active?.number === expected.active?.number &&
      draft?.files === expected.draft?.files &&
      draft?.base === expected.draft?.base
    if (isSame) await storeDraft(system, trx, next)
    return isSame
  })
}

/** Stores the draft, or deletes it if it has no changes. The caller holds the lock of the active release. */
export async function storeDraft(system: System, trx: Transaction<SystemTables>, next: NextDraft): Promise<void> {
  const { base, files, stored, names, made, by } = next
  const known = await trx.selectFrom('waypost_draft_change').select('name').execute()
  const kept = new Set(files === undefined ? [] : names)
  const gone = known.map(({ name }) => name).filter((name) => !kept.has(name))
  for await (const batch of inBatches(gone, () => 0))
    await trx.deleteFrom('waypost_draft_change').where('name', 'in', batch).execute()
  if (files === undefined) {
    await trx.deleteFrom('waypost_draft').execute()
    return
  }
  const row = {
    base: base.number,
    base_files: base.files ?? null,
    files: await storeFiles(system, trx, files, stored),
    changed_at: system.now(),
  }
  await trx
    .insertInto('waypost_draft')
    .values({ id: 1, ...row })
    .onConflict((on) => on.column('id').doUpdateSet(row))
    .execute()
  if (by === undefined) return
  const author = { user_id: by.id, user_name: by.name, changed_at: system.now() }
  const own = made.filter((name) => kept.has(name))
  for await (const batch of inBatches(own, () => 0))
    await trx
      .insertInto('waypost_draft_change')
      .values(batch.map((name) => ({ name, ...author })))
      .onConflict((on) => on.column('name').doUpdateSet(author))
      .execute()
}
