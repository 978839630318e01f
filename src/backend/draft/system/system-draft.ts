import type { Texts } from '../../../definition/index.ts'
import type { Host } from '../../../host/index.ts'
import { isWaypostError, shortId, type Diagnostic } from '../../../kit/index.ts'
import {
  loadArtifacts,
  loadManifest,
  loadManifestText,
  loadPublishedFiles,
  replaceDraft,
  type Manifest,
  type ManifestPlugin,
  type PublishedFiles,
  listActions,
} from '../../../release/index.ts'
import { errors } from '../../errors.ts'
import { subtractKnown } from '../save-changes.ts'
import type { DraftTables } from '../draft-tables.ts'
import { DraftThread, isExceeded, type DraftLimits } from '../thread/draft-thread.ts'
import type { ActionFile, Draft, DraftAuthor, DraftBase, DraftChange, DraftStatus } from '../draft.ts'
import type { PlannedDraft } from '../planned-draft.ts'
import type { DraftFiles, FileChange } from '../file-change.ts'
import { DraftBuilder, type LinkedDraft, type LoadedDraft } from './draft-builder.ts'
import { assertWritable, keepMigrations } from './draft-files.ts'
import { DraftVersions, type DraftState, type FilesVersion } from './draft-versions.ts'
import { SystemTables } from './system-tables.ts'
import { listStagedVariables, stageVariable } from './staged-variables.ts'
import { listTouched, type ListedChange, type RebaseSide } from './draft-changes.ts'

/** A change that was not discarded. */
export interface KeptChange {
  readonly name: string
  readonly reason: string
}

const maxHistory = 20
/** How often a change is retried after others changed the draft. */
const maxAttempts = 50

/** The definition that the pages of a server edit: one draft, which all administrators and servers share. */
export class SystemDraft implements Draft {
  readonly folder = undefined
  readonly #host: Host
  readonly #nameOf: () => string
  readonly #versions: DraftVersions
  readonly #builder: DraftBuilder
  #last: Promise<unknown> = Promise.resolve()
  readonly tables: DraftTables
  readonly thread: DraftThread

  constructor(host: Host, nameOf: () => string, limits?: DraftLimits) {
    const { system, folder } = host
    this.#host = host
    this.#nameOf = nameOf
    this.thread = new DraftThread({
      folder,
      root: undefined,
      sources: {
        loadManifest: (release) => loadManifestText(system, release),
        async loadArtifacts(release) {
          return loadArtifacts(system, { id: release }, (await loadManifest(system, release)).artifacts)
        },
      },
      limits,
    })
    this.#versions = new DraftVersions(system, this.thread)
    this.#builder = new DraftBuilder(host, this.#versions, this.thread)
    this.tables = new SystemTables(host, this)
  }

  get name(): string {
    return this.#nameOf()
  }

  /** @throws WP_RELEASE_NO_FILES if the active release was deployed without its definition, WP_BACKEND_DRAFT_DAMAGED */
  readState(): Promise<DraftState> {
    return this.#versions.readState()
  }

  async read(): Promise<DraftFiles> {
    const { texts, revision } = await this.readState()
    return { texts, revision }
  }

  async loadBase(): Promise<DraftBase> {
    const { base, rows } = await this.readState()
    const release = base.number === rows.active?.number ? rows.active.release : await this.#findRelease(base.number)
    return { kind: 'release', name: release === undefined ? '' : shortId(release), texts: base.texts }
  }

  async #findRelease(number: number): Promise<string | undefined> {
    const { db } = this.#host.system
    const row = await db
      .selectFrom('waypost_activation')
      .select('release_id')
      .where('number', '=', number)
      .executeTakeFirst()
    return row?.release_id
  }

  async status(): Promise<DraftStatus> {
    const { texts, changes, problem } = await this.readState()
    const status = { isServed: changes.length === 0, servedAt: undefined }
    if (problem !== undefined) return { ...status, diagnostics: [], problem }
    try {
      return { ...status, diagnostics: (await this.load(texts)).diagnostics, problem }
    } catch (error) {
      if (!isExceeded(error)) throw error
      return { ...status, diagnostics: [], problem: error }
    }
  }

  /** Returns who made each change, by its name. */
  async listAuthors(): Promise<ReadonlyMap<string, { readonly by: string; readonly at: number }>> {
    const rows = await this.#host.system.db.selectFrom('waypost_draft_change').selectAll().execute()
    return new Map(rows.map((row) => [row.name, { by: row.user_name, at: row.changed_at }]))
  }

  async listHistory(): Promise<readonly DraftChange[]> {
    const { changes } = await this.readState()
    const authors = await this.listAuthors()
    const known = changes.flatMap(({ name, at, file }) => {
      const author = authors.get(name)
      return author === undefined ? [] : [{ ...author, files: [file], entries: at === undefined ? [] : [at] }]
    })
    return known.toSorted((a, b) => b.at - a.at).slice(0, maxHistory)
  }

  async loadPlugins(): Promise<{ readonly plugins: readonly ManifestPlugin[] }> {
    return { plugins: (await this.load((await this.readState()).texts)).plugins }
  }

  /** Returns the manifest of the release that publishing all changes would make; undefined if there are errors. */
  async loadManifest(): Promise<Manifest | undefined> {
    const loaded = await this.load((await this.readState()).texts)
    return loaded.isValid ? (await this.link(loaded)).manifest : undefined
  }

  /**
   * Returns the files of the draft, or of the active release if the draft has no changes; undefined if there is neither.
   * @throws WP_BACKEND_DRAFT_CONFLICTS
   */
  async loadPublishedFiles(): Promise<PublishedFiles | undefined> {
    const { texts, conflicts, changes, rows } = await this.readState()
    if (conflicts.length > 0)
      throw errors.WP_BACKEND_DRAFT_CONFLICTS({ names: conflicts.map(({ name }) => name).join(', ') })
    const published = await loadPublishedFiles(this.#host.system)
    if (published === undefined && changes.length === 0) return undefined
    const files = [...texts].map(([path, content]) => ({ path, content }))
    return { id: rows.active?.release, inGit: published?.inGit, files }
  }

  /** Lists the files with code of the active release. */
  async listActions(): Promise<readonly ActionFile[]> {
    const { texts, rows } = await this.readState()
    const release = rows.active?.release
    const used = Map.groupBy(await this.thread.ask('fileUses', { texts, release }), ({ file }) => file)
    const manifest = rows.active && (await loadManifest(this.#host.system, rows.active.release))
    const known = (manifest === undefined ? [] : listActions(manifest)).flatMap((action) =>
      'file' in action ? [action.file] : [],
    )
    const files = [...new Set([...known, ...used.keys()])].toSorted()
    return files.map((file) => ({ file, usedBy: (used.get(file) ?? []).map(({ name }) => name) }))
  }

  exclusive<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(work)
    this.#last = result.catch(() => undefined)
    return result
  }

  /** Loads a definition with the code of the active release. */
  load(texts: Texts): Promise<LoadedDraft> {
    return this.#builder.load(texts)
  }

  /** Makes the release of a loaded definition without errors. */
  link(loaded: LoadedDraft): Promise<LinkedDraft> {
    return this.#builder.link(loaded)
  }

  close(): void {
    this.thread.close()
  }

  async check(changes: Parameters<Draft['check']>[0]): Promise<readonly Diagnostic[]> {
    return (await this.load(this.#versions.apply((await this.readState()).texts, changes))).diagnostics
  }

  async findNewErrors({ changes }: PlannedDraft): Promise<readonly Diagnostic[]> {
    const { texts } = await this.readState()
    const found = (await this.load(this.#versions.apply(texts, changes))).diagnostics.filter(isError)
    if (found.length === 0) return []
    return subtractKnown(found, (await this.load(texts)).diagnostics.filter(isError))
  }

  async write(changes: readonly FileChange[], { by }: Parameters<Draft['write']>[1] = {}): ReturnType<Draft['write']> {
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      const state = await this.readState()
      if (changes.some(({ file, before }) => state.texts.get(file) !== before)) return undefined
      const texts = this.#versions.apply(state.texts, changes)
      assertWritable(changes, state.texts, texts)
      if (await this.replace(state, { base: state.base, texts, by })) return { served: Promise.resolve(false) }
    }
    return undefined
  }

  /**
   * Stores another state of the draft, unless another one was stored or a release was activated since it was read.
   * @returns whether it was stored
   */
  async replace(
    state: DraftState,
    { base, texts, by }: { readonly base: FilesVersion; readonly texts: Texts; readonly by?: DraftAuthor | undefined },
  ): Promise<boolean> {
    const names = (await this.#versions.listChanges(base.texts, texts)).map(({ name }) => name)
    const edited = await this.#versions.listChanges(state.texts, texts)
    const made = listTouched(names, edited)
    const stored = new Set(
      [state.active, state.base, state].flatMap((one) => Object.values(this.#versions.hash(one.texts))),
    )
    // The texts of a draft that was merged with a later release are not stored yet.
    const isStored = state.rows.draft === undefined || state.rows.draft.base === state.base.number
    const isReplaced = await replaceDraft(this.#host.system, state.rows, {
      base,
      files: isSameTexts(base.texts, texts) ? undefined : [...texts].map(([path, content]) => ({ path, content })),
      ...(isStored && { stored }),
      names,
      made,
      by,
    })
    if (isReplaced) this.#versions.remember(texts)
    return isReplaced
  }

  /**
   * Discards changes; all of them by default, also if the files of the draft are damaged.
   * @returns those that stay
   */
  async discard(names: readonly string[] | undefined, by: DraftAuthor): Promise<readonly KeptChange[]> {
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      const state = await this.readState().catch((error: unknown) => {
        if (names !== undefined || !isWaypostError(error) || error.code !== 'WP_BACKEND_DRAFT_DAMAGED') throw error
      })
      if (state === undefined) {
        await this.#versions.dropDamaged()
        continue
      }
      const chosen = new Set(names ?? state.changes.map(({ name }) => name))
      const kept: KeptChange[] = []
      for (const { name, files } of state.changes.filter((one) => chosen.has(one.name))) {
        const changes = files.map((file) => ({ file, before: state.texts.get(file), text: state.base.texts.get(file) }))
        const frozen = await Promise.all(changes.map((one) => this.tables.isFrozen(one)))
        if (frozen.includes(true))
          kept.push({ name, reason: 'The migration has run; without it, its tables would have no definition' })
      }
      for (const { name } of kept) chosen.delete(name)
      const staying = state.changes.map(({ name }) => name).filter((name) => !chosen.has(name))
      const texts = await this.select(state, staying)
      if (!(await this.replace(state, { base: state.base, texts, by }))) continue
      await this.#discardVariables(texts)
      return kept
    }
    throw errors.WP_BACKEND_DRAFT_BUSY({ attempts: maxAttempts })
  }

  /** Returns the files of the base with some changes of the draft. @throws WP_DEFINITION_EDIT_REFUSED */
  async select({ base, texts }: DraftState, names: readonly string[]): Promise<Texts> {
    // Without parsing: all changes of a draft that is too large can be discarded.
    if (names.length === 0) return base.texts
    return this.#versions.applyFiles(texts, await this.thread.ask('select', { base: base.texts, texts, names }))
  }

  /** Lists the changes between two versions. */
  listChanges(base: Texts, texts: Texts): Promise<readonly ListedChange[]> {
    return this.#versions.listChanges(base, texts)
  }

  /**
   * Makes the changes on the active release and decides all conflicts.
   * @returns whether it was done; false if the draft or the active release has changed since the state was read
   */
  async rebase(
    state: DraftState,
    { sides, by }: { readonly sides: Readonly<Record<string, RebaseSide>>; readonly by: DraftAuthor },
  ): Promise<boolean> {
    const versions = { oldBase: state.base.texts, newBase: state.active.texts, texts: state.texts }
    const { texts } = await this.#versions.rebase(versions, sides)
    return this.replace(state, { base: state.active, texts, by })
  }

  /** Deletes the staged variables that the draft does not use. */
  async #discardVariables(texts: Texts): Promise<void> {
    const { db } = this.#host.system
    for (const { name } of await listStagedVariables(this.#host)) {
      const use = new RegExp(`\\benv\\.${name}\\b`)
      if ([...texts.values()].some((text) => use.test(text))) continue
      await db.deleteFrom('waypost_draft_variable').where('id', '=', name).execute()
    }
  }

  /**
   * Makes the definition files of an earlier activation the draft. Migrations of the active release stay.
   * @throws WP_BACKEND_DRAFT_NOT_EMPTY, WP_BACKEND_DRAFT_ACTIVATION, WP_BACKEND_DRAFT_BUSY
   */
  async open(number: number, by: DraftAuthor): Promise<void> {
    const { db } = this.#host.system
    const row = await db
      .selectFrom('waypost_activation')
      .select('files')
      .where('number', '=', number)
      .executeTakeFirst()
    if (row === undefined || row.files === null) throw errors.WP_BACKEND_DRAFT_ACTIVATION({ number })
    const wanted = await this.#versions.load(row.files)
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      const state = await this.readState()
      if (state.changes.length > 0) throw errors.WP_BACKEND_DRAFT_NOT_EMPTY({ count: state.changes.length })
      const texts = keepMigrations(state.active.texts, wanted)
      if (await this.replace(state, { base: state.active, texts, by })) return
    }
    throw errors.WP_BACKEND_DRAFT_BUSY({ attempts: maxAttempts })
  }

  setVariable(name: string, value: string, by: DraftAuthor): Promise<string> {
    return stageVariable(this.#host, { name, value }, by)
  }
}

function isError({ severity }: Diagnostic): boolean {
  return severity === 'error'
}

function isSameTexts(one: Texts, other: Texts): boolean {
  return one.size === other.size && [...one].every(([file, text]) => other.get(file) === text)
}
