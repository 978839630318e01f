import { makeDifferenceCache, type DifferenceCache, type SourceCache, type Texts } from '../../../definition/index.ts'
import { isWaypostError, sha256, shortId } from '../../../kit/index.ts'
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
import type { FileChange } from '../draft.ts'
import { listDraftChanges, rebase, type ListedChange, type RebaseConflict } from './draft-changes.ts'
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
}

const keptVersions = 6

/** Reads the draft and caches its versions, which never change. */
export class DraftVersions {
  readonly #system: System
  /** The hashes of the files of a version. */
  readonly #hashes = new WeakMap<Texts, FileHashes>()
  readonly #compared: DifferenceCache
  /** The last versions, by the hash of their list. */
  readonly #versions = new Map<string, Promise<Texts>>()
  #state: DraftState | undefined

  /** @param sources parsed files, also of edits and checks: a text is parsed once */
  constructor(system: System, sources: SourceCache) {
    this.#system = system
    this.#compared = { ...makeDifferenceCache(), sources }
  }

  /** @throws WP_RELEASE_NO_FILES if the active release was deployed without its definition, WP_BACKEND_DRAFT_DAMAGED */
  async readState(): Promise<DraftState> {
    const rows = await loadDraftRows(this.#system.db)
    const known = this.#state
    if (known !== undefined && isSameRows(known.rows, rows)) return known
    return (this.#state = await this.#makeState(rows))
  }

  async #makeState(rows: DraftRows): Promise<DraftState> {
    const active = await this.#loadActive(rows)
    const { draft } = rows
    const revisionOf = (texts: Texts, base: FilesVersion) =>
      hashFileList({ ...this.hash(texts), '': `${base.number} ${active.number}` }).slice(0, 32)
    const make = (parts: Pick<DraftState, 'base' | 'texts' | 'conflicts'>): DraftState => {
      const changes = this.listChanges(parts.base.texts, parts.texts)
      return { rows, active, ...parts, changes, revision: revisionOf(parts.texts, parts.base) }
    }
    if (draft === undefined) return make({ base: active, texts: active.texts, conflicts: [] })
    const texts = await this.#loadDraft(draft.files)
    if (draft.base === active.number) return make({ base: active, texts, conflicts: [] })
    const base = {
      number: draft.base,
      files: draft.baseFiles,
      texts: draft.baseFiles === undefined ? new Map() : await this.#loadDraft(draft.baseFiles),
    }
    const rebased = rebase({ oldBase: base.texts, newBase: active.texts, draft: texts })
    if (rebased.conflicts.length > 0) return make({ base, texts, conflicts: rebased.conflicts })
    return make({ base: active, texts: rebased.texts, conflicts: [] })
  }

  /** Applies changes to texts. Hashes only the changed files. */
  apply(texts: Texts, changes: readonly Pick<FileChange, 'file' | 'text'>[]): Texts {
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
      names: this.listChanges(active.texts, texts).map(({ name }) => name),
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

  listChanges(base: Texts, texts: Texts): readonly ListedChange[] {
    return listDraftChanges(base, texts, this.#compared)
  }
}

function isSameRows(one: DraftRows, other: DraftRows): boolean {
  return (
    one.active?.number === other.active?.number &&
    one.draft?.base === other.draft?.base &&
    one.draft?.files === other.draft?.files
  )
}
