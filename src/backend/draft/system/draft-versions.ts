import type { EditedFiles, Texts } from '../../../definition/index.ts'
import { isWaypostError, sha256, shortId, type WaypostError } from '../../../kit/index.ts'
import {
  hashFileList,
  hashFiles,
  loadDraftRows,
  loadFiles,
  loadIntactFiles,
  releaseErrors,
  replaceDraft,
  type ActivationFiles,
  type DraftRows,
  type FileHashes,
} from '../../../release/index.ts'
import type { System } from '../../../store/index.ts'
import { errors } from '../../errors.ts'
import type { FileChange } from '../file-change.ts'
import { isExceeded, type DraftThread } from '../thread/draft-thread.ts'
import {
  listFileChanges,
  rebaseFiles,
  type ListedChange,
  type RebaseConflict,
  type RebaseSide,
} from './draft-changes.ts'
import { keepLast } from './keep-last.ts'

/** A version of the definition files. */
export interface FilesVersion extends Pick<ActivationFiles, 'number' | 'files'> {
  readonly texts: Texts
}

/** The draft at one moment. */
export interface DraftState {
  readonly rows: DraftRows
  /** The files of the active release; number 0 and no texts before the first deployment. */
  readonly active: FilesVersion
  /** What the changes are relative to: the active release, or an earlier one while there are conflicts. */
  readonly base: FilesVersion
  readonly texts: Texts
  /** The changes since `base`. */
  readonly changes: readonly ListedChange[]
  /** What the draft and the active release both changed since `base`. */
  readonly conflicts: readonly RebaseConflict[]
  readonly revision: string
  /** Why its changes are listed by file: it is too large to be compared by entry. */
  readonly problem: WaypostError | undefined
}

const keptVersions = 6

/** Reads the draft and caches its versions, which never change. */
export class DraftVersions {
  readonly #system: System
  /** The hashes of the files of a version. */
  readonly #hashes = new WeakMap<Texts, FileHashes>()
  readonly #thread: DraftThread
  /** The last versions, by the hash of their list. */
  readonly #versions = new Map<string, Promise<Texts>>()
  /** The last states, by their rows. */
  readonly #states = new Map<string, Promise<DraftState>>()

  constructor(system: System, thread: DraftThread) {
    this.#system = system
    this.#thread = thread
  }

  /** @throws WP_RELEASE_NO_FILES if the active release was deployed without its definition, WP_BACKEND_DRAFT_DAMAGED */
  async readState(): Promise<DraftState> {
    const rows = await loadDraftRows(this.#system.db)
    const { active, draft } = rows
    const key = JSON.stringify([active?.number, draft?.base, draft?.files])
    return keepLast(this.#states, key, { count: 1, make: () => this.#makeState(rows) })
  }

  async #makeState(rows: DraftRows): Promise<DraftState> {
    const active = await this.#loadActive(rows)
    const { draft } = rows
    const revisionOf = (texts: Texts, base: FilesVersion) =>
      hashFileList({ ...this.hash(texts), '': `${base.number} ${active.number}` }).slice(0, 32)
    const make = async (parts: Pick<DraftState, 'base' | 'texts' | 'conflicts'>): Promise<DraftState> => {
      const { changes, problem } = await this.#compare(parts.base.texts, parts.texts)
      return { rows, active, ...parts, changes, problem, revision: revisionOf(parts.texts, parts.base) }
    }
    if (draft === undefined) return make({ base: active, texts: active.texts, conflicts: [] })
    const texts = await this.#loadDraft(draft.files)
    if (draft.base === active.number) return make({ base: active, texts, conflicts: [] })
    const base = {
      number: draft.base,
      files: draft.baseFiles,
      texts: draft.baseFiles === undefined ? new Map() : await this.#loadDraft(draft.baseFiles),
    }
    const rebased = await this.rebase({ oldBase: base.texts, newBase: active.texts, texts })
    if (rebased.conflicts.length > 0) return make({ base, texts, conflicts: rebased.conflicts })
    return make({ base: active, texts: rebased.texts, conflicts: [] })
  }

  /** Makes the changes of a draft on another base. */
  async rebase(
    versions: { readonly oldBase: Texts; readonly newBase: Texts; readonly texts: Texts },
    sides: Readonly<Record<string, RebaseSide>> = {},
  ): Promise<{ readonly texts: Texts; readonly conflicts: readonly RebaseConflict[] }> {
    try {
      const { files, conflicts } = await this.#thread.ask('rebase', { ...versions, sides })
      return { texts: this.applyFiles(versions.texts, files), conflicts }
    } catch (error) {
      if (!isExceeded(error)) throw error
      return rebaseFiles({ ...versions, draft: versions.texts }, sides)
    }
  }

  /** Applies changes to texts. Hashes only the changed files. */
  apply(texts: Texts, changes: readonly Pick<FileChange, 'file' | 'text'>[]): Texts {
    if (changes.length === 0) return texts
    const after = new Map(texts)
    const hashes = { ...this.hash(texts) }
    for (const { file } of changes) {
      delete hashes[file]
      after.delete(file)
    }
    for (const { file, text } of changes) {
      if (text === undefined) continue
      after.set(file, text)
      hashes[file] = sha256(text)
    }
    this.#hashes.set(after, hashes)
    return after
  }

  applyFiles(texts: Texts, files: EditedFiles): Texts {
    const changes = [...files].map(([file, text]) => ({ file, text }))
    return this.apply(texts, changes)
  }

  hash(texts: Texts): FileHashes {
    const known = this.#hashes.get(texts) ?? hashFiles([...texts].map(([path, content]) => ({ path, content })))
    this.#hashes.set(texts, known)
    return known
  }

  async #loadActive({ active }: DraftRows): Promise<FilesVersion> {
    if (active === undefined) return { number: 0, files: undefined, texts: new Map() }
    if (active.files === undefined) throw releaseErrors.WP_RELEASE_NO_FILES({ id: shortId(active.release) })
    return { number: active.number, files: active.files, texts: await this.load(active.files) }
  }

  /**
   * Replaces a draft that cannot be read by the active release with the draft's readable migrations: some may have run.
   */
  async dropDamaged(): Promise<void> {
    const rows = await loadDraftRows(this.#system.db)
    if (rows.draft === undefined) return
    const active = await this.#loadActive(rows)
    const { files } = await loadIntactFiles(this.#system, rows.draft.files)
    const own = files.filter(({ path }) => path.startsWith('migrations/') && !active.texts.has(path))
    const texts = new Map([...active.texts, ...own.map(({ path, content }) => [path, content] as const)])
    await replaceDraft(this.#system, rows, {
      base: active,
      files: own.length === 0 ? undefined : [...texts].map(([path, content]) => ({ path, content })),
      names: (await this.listChanges(active.texts, texts)).map(({ name }) => name),
      made: [],
    })
  }

  async #loadDraft(list: string): Promise<Texts> {
    try {
      return await this.load(list)
    } catch (error) {
      if (!isWaypostError(error) || error.code !== 'WP_RELEASE_FILES') throw error
      const { damaged = list } = await loadIntactFiles(this.#system, list)
      throw errors.WP_BACKEND_DRAFT_DAMAGED({ hash: shortId(damaged) })
    }
  }

  /** Loads the files of a list. @throws WP_RELEASE_FILES */
  load(list: string): Promise<Texts> {
    return keepLast(this.#versions, list, {
      count: keptVersions,
      make: async () => {
        const files = await loadFiles(this.#system, list)
        return new Map(files.map(({ path, content }) => [path, content]))
      },
    })
  }

  /** Caches a version that was stored. */
  remember(texts: Texts): void {
    void keepLast(this.#versions, this.listOf(texts), { count: keptVersions, make: async () => texts })
  }

  /** Returns the hash of the list of a version's files. */
  listOf(texts: Texts): string {
    return hashFileList(this.hash(texts))
  }

  /** Lists the changes by entry; by file if a version is too large to be compared. */
  async listChanges(base: Texts, texts: Texts): Promise<readonly ListedChange[]> {
    return (await this.#compare(base, texts)).changes
  }

  async #compare(base: Texts, texts: Texts): Promise<Pick<DraftState, 'changes' | 'problem'>> {
    if (base === texts) return { changes: [], problem: undefined }
    try {
      return { changes: await this.#thread.ask('compare', { base, texts }), problem: undefined }
    } catch (error) {
      if (!isExceeded(error)) throw error
      return { changes: listFileChanges(base, texts), problem: error }
    }
  }
}
