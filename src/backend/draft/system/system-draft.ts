import {
  GenerateBroken,
  GenerateRefused,
  kindsOfConnections,
  openBaseBuilder,
  planTableApi,
  type BaseBuilder,
  type ConnectionKinds,
  type LoadedTexts,
} from '../../../build/index.ts'
import {
  hasTooManyParts,
  makeDifferenceCache,
  makeSourceCache,
  openEditing,
  type Definition,
  type Texts,
} from '../../../definition/index.ts'
import type { Host } from '../../../host/index.ts'
import { isStorable, sha256, shortId, type Diagnostic } from '../../../kit/index.ts'
import {
  findFilesProblem,
  findPathProblem,
  hashFileList,
  hashFiles,
  mayAddFile,
  loadArtifacts,
  loadDraftRows,
  loadFiles,
  loadManifest,
  loadPublishedFiles,
  releaseErrors,
  replaceDraft,
  type ActivationFiles,
  type BuiltRelease,
  type DraftRows,
  type FileHashes,
  type Manifest,
  type ManifestMigration,
  type ManifestPlugin,
  type PublishedFiles,
} from '../../../release/index.ts'
import { planMigrations } from '../../../store/index.ts'
import { errors } from '../../errors.ts'
import { DraftBroken, subtractKnown } from '../save-changes.ts'
import { TablePlanner } from '../table-planner.ts'
import type {
  ActionFile,
  Draft,
  DraftAuthor,
  DraftBase,
  DraftChange,
  DraftFiles,
  DraftStatus,
  FileChange,
  PlannedDraft,
} from '../draft.ts'
import type { PlannedTableApi, TableApiRequest } from '../draft-tables.ts'
import { listStagedVariables, stageVariable } from './staged-variables.ts'
import {
  listDraftChanges,
  rebase,
  selectChanges,
  type ListedChange,
  type RebaseConflict,
  type RebaseSide,
} from './draft-changes.ts'

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

/** A change that was not discarded. */
export interface KeptChange {
  readonly name: string
  readonly reason: string
}

const rootFile = 'waypost.yml'
const maxHistory = 20
/** More changes than this in a row by others are not awaited. */
const maxAttempts = 50
const keptVersions = 6

/** The definition that the pages of a server edit: one draft, which all administrators and servers share. */
export class SystemDraft implements Draft {
  readonly mode = 'server'
  readonly folder = undefined
  readonly place = undefined
  readonly #host: Host
  readonly #nameOf: () => string
  readonly #edited = makeSourceCache()
  /** Of the files of a version. */
  readonly #hashes = new WeakMap<Texts, FileHashes>()
  readonly #compared = makeDifferenceCache()
  /** The last versions, by the hash of their list. */
  readonly #versions = new Map<string, Promise<Texts>>()
  readonly #loaded = new Map<string, Promise<LoadedTexts>>()
  /** The migrations of releases, which do not change. */
  readonly #ran = new Map<string, ReadonlySet<string>>()
  #builder: { readonly release: string | undefined; readonly opened: BaseBuilder } | undefined
  #state: DraftState | undefined
  #last: Promise<unknown> = Promise.resolve()
  #lastBuild: Promise<unknown> = Promise.resolve()

  constructor(host: Host, nameOf: () => string) {
    this.#host = host
    this.#nameOf = nameOf
  }

  get name(): string {
    return this.#nameOf()
  }

  /** @throws WP_RELEASE_NO_FILES if the active release was deployed without its definition */
  async readState(): Promise<DraftState> {
    const rows = await loadDraftRows(this.#host.system.db)
    const known = this.#state
    if (known !== undefined && isSameRows(known.rows, rows)) return known
    return (this.#state = await this.#makeState(rows))
  }

  async #makeState(rows: DraftRows): Promise<DraftState> {
    const active = await this.#loadActive(rows)
    const { draft } = rows
    const revisionOf = (texts: Texts, base: FilesVersion) =>
      hashFileList({ ...this.#hash(texts), '': `${base.number} ${active.number}` }).slice(0, 32)
    const make = (parts: Pick<DraftState, 'base' | 'texts' | 'conflicts'>): DraftState => {
      const changes = listDraftChanges(parts.base.texts, parts.texts, this.#compared)
      return { rows, active, ...parts, changes, revision: revisionOf(parts.texts, parts.base) }
    }
    if (draft === undefined) return make({ base: active, texts: active.texts, conflicts: [] })
    const texts = await this.#loadVersion(draft.files)
    if (draft.base === active.number) return make({ base: active, texts, conflicts: [] })
    const base = {
      number: draft.base,
      files: draft.baseFiles,
      texts: draft.baseFiles === undefined ? new Map() : await this.#loadVersion(draft.baseFiles),
    }
    const rebased = rebase({ oldBase: base.texts, newBase: active.texts, draft: texts })
    if (rebased.conflicts.length > 0) return make({ base, texts, conflicts: rebased.conflicts })
    return make({ base: active, texts: rebased.texts, conflicts: [] })
  }

  /** Changes texts. Hashes only what changed. */
  #apply(texts: Texts, changes: readonly Pick<FileChange, 'file' | 'text'>[]): Texts {
    const after = new Map(texts)
    const hashes = { ...this.#hash(texts) }
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

  #hash(texts: Texts): FileHashes {
    const known = this.#hashes.get(texts) ?? hashFiles([...texts].map(([path, content]) => ({ path, content })))
    this.#hashes.set(texts, known)
    return known
  }

  async #loadActive({ active }: DraftRows): Promise<FilesVersion> {
    if (active === undefined) return { number: 0, files: undefined, texts: new Map() }
    if (active.files === undefined) throw releaseErrors.WP_RELEASE_NO_FILES({ id: shortId(active.release) })
    return { number: active.number, files: active.files, texts: await this.#loadVersion(active.files) }
  }

  #loadVersion(list: string): Promise<Texts> {
    return keepLast(this.#versions, list, async () => {
      const files = await loadFiles(this.#host.system, list)
      return new Map(files.map(({ path, content }) => [path, content]))
    })
  }

  async read(): Promise<DraftFiles> {
    const { texts, revision } = await this.readState()
    return { texts, revision, editing: this.#open(texts) }
  }

  #open(texts: Texts) {
    return openEditing(undefined, { texts: withRoot(texts, ''), cache: this.#edited })
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
    const { texts, changes } = await this.readState()
    const { diagnostics } = await this.load(texts)
    return { diagnostics, problem: undefined, isServed: changes.length === 0, servedAt: undefined }
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
    return loaded.definition === undefined ? undefined : (await this.link(loaded)).manifest
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
    const { definition, partial = definition } = await this.load(texts)
    const used = Map.groupBy(partial === undefined ? [] : listUses(partial), ({ file }) => file)
    const manifest = rows.active && (await loadManifest(this.#host.system, rows.active.release))
    const known = [
      ...(manifest?.routes ?? []).flatMap(({ methods }) => methods.map(({ action }) => action)),
      ...Object.values(manifest?.cronjobs ?? {}).map(({ action }) => action),
    ].flatMap((action) => ('file' in action ? [action.file] : []))
    const files = [...new Set([...known, ...used.keys()])].toSorted()
    return files.map((file) => ({ file, usedBy: (used.get(file) ?? []).map(({ name }) => name) }))
  }

  async planRoute(): Promise<never> {
    throw errors.WP_BACKEND_DRAFT_CODE()
  }

  async planAction(): Promise<never> {
    throw errors.WP_BACKEND_DRAFT_CODE()
  }

  exclusive<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(work)
    this.#last = result.catch(() => undefined)
    return result
  }

  /** Loads a definition with the code of the active release. */
  async load(texts: Texts): Promise<LoadedTexts> {
    const release = (await loadDraftRows(this.#host.system.db)).active?.release
    return keepLast(this.#loaded, `${release} ${hashFileList(this.#hash(texts))}`, () =>
      this.#build(release, (builder) => builder.load(withRoot(texts, 'routes: {}\n'))),
    )
  }

  /** Makes the release of a loaded definition without errors. */
  async link(loaded: LoadedTexts): Promise<BuiltRelease> {
    const release = (await loadDraftRows(this.#host.system.db)).active?.release
    return this.#build(release, (builder) => builder.link(loaded))
  }

  /** Runs one work after the other with the builder for the code of a release. */
  #build<Result>(release: string | undefined, work: (builder: BaseBuilder) => Promise<Result>): Promise<Result> {
    const result = this.#lastBuild.then(async () => {
      if (this.#builder === undefined || this.#builder.release !== release) {
        this.close()
        this.#builder = { release, opened: await this.#openBuilder(release) }
      }
      return work(this.#builder.opened)
    })
    this.#lastBuild = result.catch(() => undefined)
    return result
  }

  async #openBuilder(release: string | undefined): Promise<BaseBuilder> {
    const { system, folder } = this.#host
    if (release === undefined) return openBaseBuilder({ base: undefined, folder })
    const manifest = await loadManifest(system, release)
    const base = { manifest, loadArtifacts: () => loadArtifacts(system, { id: release }, manifest.artifacts) }
    return openBaseBuilder({ base, folder })
  }

  close(): void {
    this.#loaded.clear()
    this.#builder?.opened.close()
    this.#builder = undefined
  }

  async check(changes: Parameters<Draft['check']>[0]): Promise<readonly Diagnostic[]> {
    return (await this.load(this.#apply((await this.readState()).texts, changes))).diagnostics
  }

  async findNewErrors({ changes }: PlannedDraft): Promise<readonly Diagnostic[]> {
    const { texts } = await this.readState()
    const found = (await this.load(this.#apply(texts, changes))).diagnostics.filter(isError)
    if (found.length === 0) return []
    return subtractKnown(found, (await this.load(texts)).diagnostics.filter(isError))
  }

  async write(changes: readonly FileChange[], { by }: Parameters<Draft['write']>[1] = {}): ReturnType<Draft['write']> {
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      const state = await this.readState()
      if (changes.some(({ file, before }) => state.texts.get(file) !== before)) return undefined
      const texts = this.#apply(state.texts, changes)
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
    const names = listDraftChanges(base.texts, texts, this.#compared).map(({ name }) => name)
    const edited = listDraftChanges(state.texts, texts, this.#compared)
    const made = names.filter((name) =>
      edited.some((one) => isWithin(one.name, name) || isWithin(name, one.name) || one.files.includes(name)),
    )
    const stored = new Set([state.active, state.base, state].flatMap((one) => Object.values(this.#hash(one.texts))))
    // The merged texts of a draft that follows the active release are not stored yet.
    const isStored = state.rows.draft === undefined || state.rows.draft.base === state.base.number
    const isReplaced = await replaceDraft(this.#host.system, state.rows, {
      base,
      files: isSameTexts(base.texts, texts) ? undefined : [...texts].map(([path, content]) => ({ path, content })),
      ...(isStored && { stored }),
      names,
      made,
      by,
    })
    if (isReplaced) void keepLast(this.#versions, hashFileList(this.#hash(texts)), async () => texts)
    return isReplaced
  }

  /**
   * Discards changes; all of them by default.
   * @returns those that stay
   */
  async discard(names: readonly string[] | undefined, by: DraftAuthor): Promise<readonly KeptChange[]> {
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      const state = await this.readState()
      const chosen = new Set(names ?? state.changes.map(({ name }) => name))
      const kept: KeptChange[] = []
      for (const { name, files } of state.changes.filter((one) => chosen.has(one.name)))
        for (const file of files)
          if (await this.tables.isFrozen({ file, before: state.texts.get(file), text: state.base.texts.get(file) }))
            kept.push({ name, reason: 'The migration ran: dropping it would leave its tables without a definition' })
      const frozen = new Set(kept.map(({ name }) => name))
      const staying = state.changes.map(({ name }) => name).filter((name) => !chosen.has(name) || frozen.has(name))
      const texts = selectChanges({ base: state.base.texts, draft: state.texts }, staying)
      if (!(await this.replace(state, { base: state.base, texts, by }))) continue
      await this.#discardVariables(texts)
      return kept
    }
    throw errors.WP_BACKEND_DRAFT_BUSY({ attempts: maxAttempts })
  }

  /**
   * Makes the changes on the active release and decides all conflicts.
   * @returns whether it was done; false if the draft or the active release has changed since the state was read
   */
  async rebase(
    state: DraftState,
    { sides, by }: { readonly sides: Readonly<Record<string, RebaseSide>>; readonly by: DraftAuthor },
  ): Promise<boolean> {
    const versions = { oldBase: state.base.texts, newBase: state.active.texts, draft: state.texts }
    return this.replace(state, { base: state.active, texts: rebase(versions, sides).texts, by })
  }

  /** Drops the staged variables that the draft does not name. */
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
    const wanted = await this.#loadVersion(row.files)
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

  async #loadKinds(): Promise<ConnectionKinds> {
    const { definition, partial = definition, plugins } = await this.load((await this.readState()).texts)
    if (partial === undefined) return { System: undefined }
    const kinds = kindsOfConnections(
      partial,
      plugins.map((manifest) => ({ manifest })),
    )
    return Object.fromEntries(Object.entries(kinds).filter(([name, kind]) => kind !== undefined || name === 'System'))
  }

  async #planApi(request: TableApiRequest): Promise<PlannedTableApi> {
    const { texts } = await this.readState()
    const { definition, diagnostics, migrations } = await this.load(texts)
    if (definition === undefined) throw new DraftBroken(diagnostics)
    try {
      const plan = await planTableApi(
        {
          editing: this.#open(texts),
          diagnostics,
          kinds: await this.#loadKinds(),
          migrations,
          load: (after) => this.load(after),
        },
        request,
      )
      const { action, methods, index, warnings } = plan
      const changes = [...plan.texts].flatMap(([file, text]): readonly FileChange[] => {
        const before = texts.get(file)
        return before === text || (before === undefined && text === '') ? [] : [{ file, text, before }]
      })
      return { action, methods, index, warnings, changes }
    } catch (error) {
      if (error instanceof GenerateBroken) throw new DraftBroken(error.diagnostics)
      throw error instanceof GenerateRefused ? errors.WP_BACKEND_DRAFT_GENERATE(error) : error
    }
  }

  /** Opens no connection: releases are activated after their migrations, and publications record those that ran. */
  async #hasRun(connection: string, name: string): Promise<boolean> {
    const { system } = this.#host
    if (connection === 'System') {
      const { applied } = await planMigrations(system.db, [])
      return applied.some((row) => row.name === name)
    }
    const published = await system.db
      .selectFrom('waypost_publish')
      .select('id')
      .where('detail', 'like', `%"${connection}/${name}"%`)
      .executeTakeFirst()
    if (published !== undefined) return true
    const releases = await system.db.selectFrom('waypost_release').select('id').execute()
    for (const { id } of releases) {
      const known = this.#ran.get(id) ?? new Set((await loadManifest(system, id)).migrations.map(nameMigrationOf))
      this.#ran.set(id, known)
      if (known.has(`${connection}/${name}`)) return true
    }
    return false
  }

  readonly tables = new TablePlanner({
    clock: { now: () => this.#host.clock.now() },
    kinds: () => this.#loadKinds(),
    openMigrations: async () => {
      const { texts } = await this.readState()
      return (await this.load(texts)).migrations
    },
    readText: async (file) => (await this.readState()).texts.get(file) ?? '',
    findState: async (connection, name) => ((await this.#hasRun(connection, name)) ? 'applied' : 'pending'),
    findCode: () => [],
    planApi: (request) => this.#planApi(request),
  })
}

function nameMigrationOf({ connection, name }: ManifestMigration): string {
  return `${connection}/${name}`
}

function listUses({ routes, cronjobs }: Definition) {
  const uses = [
    ...routes.flatMap(({ path, methods }) =>
      methods.map(({ method, action }) => ({ name: `${method} ${path}`, action })),
    ),
    ...Object.entries(cronjobs).map(([name, { action }]) => ({ name: `cronjob ${name}`, action })),
  ]
  return uses.flatMap(({ name, action }) => ('file' in action ? [{ name, file: action.file }] : []))
}

/** Returns files with all migrations of the active release, which ran, and the newer list of their tables. */
function keepMigrations(active: Texts, wanted: Texts): Texts {
  const kept = new Map(wanted)
  for (const [file, text] of active) {
    const [, connection] = /^migrations\/([^/]+)\/[^/]+$/.exec(file) ?? []
    if (connection === undefined) continue
    const own = [...active.keys()].filter((one) => one.startsWith(`migrations/${connection}/`))
    if (!file.endsWith('/tables.json') || !own.every((one) => wanted.has(one))) kept.set(file, text)
  }
  return kept
}

function isSameRows(one: DraftRows, other: DraftRows): boolean {
  return (
    one.active?.number === other.active?.number &&
    one.draft?.base === other.draft?.base &&
    one.draft?.files === other.draft?.files
  )
}

function isError({ severity }: Diagnostic): boolean {
  return severity === 'error'
}

/** The empty definition has no files: it can still be edited and loaded. */
function withRoot(texts: Texts, text: string): Texts {
  return texts.has(rootFile) ? texts : new Map([...texts, [rootFile, text]])
}

function isSameTexts(one: Texts, other: Texts): boolean {
  return one.size === other.size && [...one].every(([file, text]) => other.get(file) === text)
}

function isWithin(name: string, outer: string): boolean {
  return name === outer || name.startsWith(`${outer}/`)
}

/** Keeps the results for the last keys. */
function keepLast<Value>(known: Map<string, Promise<Value>>, key: string, make: () => Promise<Value>): Promise<Value> {
  const found = known.get(key) ?? make()
  known.delete(key)
  known.set(key, found)
  found.catch(() => known.get(key) === found && known.delete(key))
  for (const oldest of known.keys()) {
    if (known.size <= keptVersions) break
    known.delete(oldest)
  }
  return found
}

/** @throws WP_BACKEND_DRAFT_REFUSED */
function assertWritable(changes: readonly FileChange[], before: Texts, after: Texts): void {
  for (const { file, text } of changes) {
    if (text === undefined) continue
    const reason =
      findPathProblem(file) ??
      (before.has(file) || mayAddFile(file, before.keys()) ? undefined : 'it is not a file of the definition') ??
      (isStorable(text) ? undefined : 'it contains a NUL character')
    if (reason !== undefined) throw errors.WP_BACKEND_DRAFT_REFUSED({ file, reason })
  }
  const problem = findFilesProblem([...after].map(([file, text]) => ({ path: file, bytes: Buffer.byteLength(text) })))
  if (problem !== undefined) throw errors.WP_BACKEND_DRAFT_REFUSED({ file: problem.path, reason: problem.problem })
  const isMigration = (file: string) => file.startsWith('migrations/') && !file.endsWith('/tables.json')
  const [migrations, others] = [true, false].map((is) =>
    [...after].filter(([file]) => isMigration(file) === is && !file.endsWith('/tables.json')).map(([, text]) => text),
  )
  if (hasTooManyParts(migrations!) || hasTooManyParts(others!)) {
    const reason = 'the definition would have more than 200,000 lines and items'
    throw errors.WP_BACKEND_DRAFT_REFUSED({ file: changes[0]!.file, reason })
  }
}
