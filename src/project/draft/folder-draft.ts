import { lstatSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import {
  draftErrors as errors,
  type Draft,
  type DraftBase,
  type DraftChange,
  type DraftFiles,
  type DraftFolder,
  type DraftStatus,
  type FileChange,
  type PlannedDraft,
  DraftBroken,
  DraftThread,
  subtractKnown,
  TablePlanner,
  type DraftTables,
  type PlannedTableApi,
  type ActionFile,
} from '../../backend/index.ts'
import { openMigrationFiles, type PluginBuilder, type TableRequest } from '../../build/index.ts'
import { copySources, makeSourceCache, type Texts } from '../../definition/index.ts'
import {
  findHome,
  isStorable,
  isWaypostError,
  messageOf,
  type Clock,
  type Diagnostic,
  type Variables,
} from '../../kit/index.ts'
import {
  findFilesProblem,
  findPathProblem,
  isDefinitionFile,
  mayAddFile,
  type ManifestPlugin,
} from '../../release/index.ts'
import type { Project } from '../find-project.ts'
import { ChangedOnDisk, sortChanges, writeFiles } from '../generate/write-files.ts'
import { prepareAction } from '../generate/generate-action.ts'
import { prepareRoute } from '../generate/generate-route.ts'
import { loadProject, type LoadedAhead, type LoadedProject } from '../load-project.ts'
import { ChangeHistory } from './change-history.ts'
import { findMentions, listActionFiles } from './list-action-files.ts'
import { writeVariable } from './write-variable.ts'
import type { ReloadResult } from '../reloader.ts'
import { openFolderFiles, type FolderFiles } from './folder-files.ts'
import type { SessionMigrations } from '../session-migrations.ts'
import { planTableFiles } from '../generate/generate-table.ts'
import { openBase } from './load-base.ts'

/** The reload of files that are about to be written. */
export interface ExpectedReload {
  /** Whether all files were reloaded within 10 s. */
  readonly done: Promise<boolean>
  /** Called when they are written. */
  written(): void
  /** Called if they are not written. */
  cancel(): void
}

/** A file that is about to be written, with its text before; undefined if there is none. */
export type ExpectedChange = Pick<FileChange, 'file' | 'before'>

/** What the draft uses of a running `dev`. */
export interface DraftConnection {
  readonly watching: { expect(changes: readonly ExpectedChange[]): ExpectedReload }
  readonly pluginBuilder: PluginBuilder
  readonly variables: Variables
}

interface FolderDraftOptions {
  /** The files from which `dev` reads variables; `.env` by default. */
  readonly envFiles?: readonly string[] | undefined
  readonly clock: Clock
  readonly migrations: SessionMigrations
}

/** The folder of a project as the draft that the pages of the backend edit. */
export class FolderDraft implements Draft {
  readonly name: string
  readonly folder: DraftFolder
  readonly #project: Project
  readonly #clock: Clock
  readonly #history: ChangeHistory
  /** Who is writing files. */
  #writer: string | undefined
  readonly #checked = makeSourceCache()
  /** The project with the changes that are being written, and the texts of all files with them. */
  #ahead: { readonly loaded: LoadedProject; readonly texts: Texts; readonly files: ReadonlySet<string> } | undefined
  readonly #files: FolderFiles
  readonly #envFiles: readonly string[] | undefined
  readonly #loadBase: Draft['loadBase']
  /** The files of the definition as last loaded. */
  #used: readonly string[] = []
  #status: DraftStatus = { diagnostics: [], problem: undefined, isServed: false, servedAt: undefined }
  #connection: DraftConnection | undefined
  #last: Promise<unknown> = Promise.resolve()

  readonly tables: DraftTables
  readonly thread: DraftThread

  constructor(project: Project, { clock, migrations, envFiles }: FolderDraftOptions) {
    this.#envFiles = envFiles
    this.name = project.label
    const folder = path.resolve(project.root)
    this.folder = {
      path: folder,
      place: shorten(folder),
      planRoute: (route) => planRoute(folder, route),
      planAction: (action) => planAction(folder, action),
    }
    this.tables = new TablePlanner({
      clock,
      kinds: async () => migrations.kinds(),
      openMigrations: () => openMigrationFiles(project.root),
      readText: (file) => readFile(path.join(project.root, file), 'utf8'),
      listRan: async () => [],
      findState: (connection, name) => migrations.findState(connection, name),
      findCode: (table, columns) => findMentions(project.root, table, columns),
      planApi: (request) => planApi(project, request),
    })
    this.#project = project
    this.#clock = clock
    this.thread = new DraftThread({ folder, root: folder })
    this.#history = new ChangeHistory(clock, this.thread)
    this.#files = openFolderFiles(folder)
    this.#loadBase = openBase(folder, this.#files.read([]).texts)
  }

  /** Called when `dev` watches the files. */
  connect(connection: DraftConnection): void {
    this.#connection = connection
  }

  async read(): Promise<DraftFiles> {
    const files = this.#files.read(this.#used)
    this.#history.record(files, this.#writer)
    return files
  }

  async loadBase(): Promise<DraftBase> {
    const { texts, ...base } = await this.#loadBase()
    const used = new Set(this.#used)
    // Git has other .yml and .json files, for example of tests.
    return { ...base, texts: new Map([...texts].filter(([file]) => isDefinitionFile(file) || used.has(file))) }
  }

  async status(): Promise<DraftStatus> {
    return this.#status
  }

  async listHistory(): Promise<readonly DraftChange[]> {
    return this.#history.list()
  }

  async loadPlugins(): Promise<{ plugins: readonly ManifestPlugin[] }> {
    await this.read()
    const { plugins } = await this.#load(new Map())
    return { plugins: plugins.map(({ manifest }) => manifest) }
  }

  async listActions(): Promise<readonly ActionFile[]> {
    await this.read()
    const { definition, partial = definition } = await this.#load(new Map())
    return listActionFiles(this.folder.path, partial)
  }

  async setVariable(name: string, value: string): Promise<string> {
    await this.exclusive(() => writeVariable(this.folder.path, { name, value, files: this.#envFiles }))
    return name
  }

  exclusive<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(work)
    this.#last = result.catch(() => undefined)
    return result
  }

  async check(changes: Parameters<Draft['check']>[0]): Promise<readonly Diagnostic[]> {
    await this.read()
    return (await this.#load(new Map(changes.map(({ file, text }) => [file, text])))).diagnostics
  }

  async findNewErrors({ changes, tables }: PlannedDraft): Promise<readonly Diagnostic[]> {
    this.#ahead = undefined
    const changed = new Map(changes.map(({ file, text }) => [file, text]))
    const before = this.#readLast().texts
    const loaded = await this.#load(changed, tables)
    const found = errorsOf(loaded)
    if (found.length > 0) return subtractKnown(found, errorsOf(await this.#load(new Map())))
    const texts = [...before, ...changed].filter((one): one is [string, string] => one[1] !== undefined)
    // The migrations that are loaded are those on disk.
    const isComplete = loaded.definition !== undefined && ![...changed.keys()].some(isMigration)
    if (isComplete) this.#ahead = { loaded, texts: new Map(texts), files: new Set(changed.keys()) }
    return []
  }

  /**
   * Returns the project as it was loaded before a change was written, if exactly that has been written and nothing else
   * has changed.
   */
  takeLoaded(changed: ReadonlySet<string>): LoadedAhead | undefined {
    const ahead = this.#ahead
    this.#ahead = undefined
    const isOwn = changed.size > 0 && [...changed].every((file) => ahead?.files.has(file))
    if (ahead === undefined || !isOwn) return undefined
    try {
      const { texts } = this.#files.readAgain([...changed])
      const isSame =
        texts.size === ahead.texts.size && [...texts].every(([file, text]) => ahead.texts.get(file) === text)
      return isSame ? { loaded: ahead.loaded, cache: copySources(this.#checked, texts) } : undefined
    } catch {
      return undefined // the load names the file that cannot be read
    }
  }

  #record(changed: readonly string[] | undefined): void {
    try {
      const files = changed === undefined ? this.#files.read(this.#used) : this.#files.readAgain(changed)
      this.#history.record(files, this.#writer)
    } catch {
      // The next request of the pages gets the error.
    }
  }

  /** Returns the files as they were read last: the caller has just read them. */
  #readLast(): DraftFiles {
    return this.#files.last ?? this.#files.read(this.#used)
  }

  #load(texts: ReadonlyMap<string, string | undefined>, tables?: PlannedDraft['tables']): Promise<LoadedProject> {
    const { pluginBuilder, variables } = this.#connection ?? {}
    return loadProject(this.#project, {
      texts: new Map([...this.#readLast().texts, ...texts]),
      tables,
      cache: this.#checked,
      ...(variables && { variables }),
      ...(pluginBuilder && { pluginBuilder }),
    })
  }

  async write(
    changes: readonly FileChange[],
    { code = [], by }: Parameters<Draft['write']>[1] = {},
  ): ReturnType<Draft['write']> {
    assertWritable(this.folder.path, changes, { texts: this.#readLast().texts, code })
    const names = changes.map(({ file }) => file)
    const reload = this.#connection?.watching.expect(changes)
    try {
      this.#writer = by?.name
      await writeFiles(this.folder.path, sortChanges(changes))
      reload?.written()
      this.#history.record(this.#files.readAgain(names), by?.name)
    } catch (error) {
      this.#ahead = undefined
      reload?.cancel()
      if (isWaypostError(error) && error.cause instanceof ChangedOnDisk) return undefined
      throw error
    } finally {
      this.#writer = undefined
    }
    const isReloaded = reload?.done ?? Promise.resolve(false)
    return { served: isReloaded.then((is) => is && this.#status.isServed) }
  }

  close(): void {
    this.thread.close()
  }

  /**
   * Records the result of a reload.
   * @param changed the files that it was for; undefined if any file may have changed
   */
  reloaded(result: ReloadResult, changed?: readonly string[]): void {
    const { diagnostics, files } = result
    this.#ahead = undefined // later reloads must not take what was loaded before this one
    if (files.length > 0) this.#used = files
    this.#record(changed)
    const isServed = !('failed' in result)
    const servedAt = isServed ? this.#clock.now() : this.#status.servedAt
    this.#status = { diagnostics, problem: 'error' in result ? describe(result.error) : undefined, isServed, servedAt }
  }
}

function errorsOf({ diagnostics, needsMigration }: LoadedProject): readonly Diagnostic[] {
  // The reload writes outdated tables again.
  const isOutdated = ({ file }: Diagnostic) => needsMigration && isMigration(file)
  return diagnostics.filter((one) => one.severity === 'error' && !isOutdated(one))
}

function isMigration(file: string): boolean {
  return file.startsWith('migrations/')
}

async function planRoute(
  folder: string,
  route: Parameters<DraftFolder['planRoute']>[0],
): ReturnType<DraftFolder['planRoute']> {
  const { generated, changes } = await planOrThrow((onDiagnostics) => prepareRoute({ ...route, folder, onDiagnostics }))
  return { route: generated.route, action: generated.action, changes, code: [generated.action] }
}

async function planAction(
  folder: string,
  action: Parameters<DraftFolder['planAction']>[0],
): ReturnType<DraftFolder['planAction']> {
  const { use, file, text } = await planOrThrow((onDiagnostics) => prepareAction({ ...action, folder, onDiagnostics }))
  return { use: use.name, file, text, changes: [{ file, text, before: undefined }], code: [file] }
}

/** @throws DraftBroken if the definition has errors */
async function planOrThrow<Plan>(
  work: (report: (found: readonly Diagnostic[]) => void) => Promise<Plan>,
): Promise<Plan> {
  let reported: readonly Diagnostic[] = []
  try {
    return await work((found) => (reported = found))
  } catch (error) {
    if (!isWaypostError(error) || error.code !== 'WP_PROJECT_BROKEN') throw error
    throw new DraftBroken(reported)
  }
}

async function planApi(project: Project, request: TableRequest): Promise<PlannedTableApi> {
  const warnings: Diagnostic[] = []
  const { plan, changes } = await planTableFiles(project, request, (found) => warnings.push(...found))
  const { action, methods, index, parents } = plan
  return { action, methods, index, parents, changes, warnings }
}

/** @throws WP_BACKEND_DRAFT_REFUSED */
function assertWritable(
  root: string,
  changes: readonly FileChange[],
  { texts, code }: { readonly texts: Texts; readonly code: readonly string[] },
): void {
  for (const { file, text, before } of changes) {
    const isCode = code.includes(file) && before === undefined && isActionFile(file)
    const reason =
      (isCode ? undefined : findPathProblem(file)) ??
      (before === undefined && !isCode && !mayAddFile(file, texts.keys())
        ? 'it is not a file of the definition'
        : undefined) ??
      (text !== undefined && !isStorable(text) ? 'it contains a NUL character' : undefined) ??
      findLink(root, file)
    if (reason !== undefined) throw errors.WP_BACKEND_DRAFT_REFUSED({ file, reason })
  }
  const after = new Map<string, string | undefined>(texts)
  for (const { file } of changes) after.delete(file)
  for (const { file, text } of changes) if (text !== undefined && !code.includes(file)) after.set(file, text)
  const problem = findFilesProblem([...after].map(([file, text]) => ({ path: file, bytes: Buffer.byteLength(text!) })))
  if (problem !== undefined && changes.some(({ file }) => file === problem.path || file.startsWith(`${problem.path}/`)))
    throw errors.WP_BACKEND_DRAFT_REFUSED({ file: problem.path, reason: problem.problem })
}

function isActionFile(file: string): boolean {
  return /^[\w-]+(\/[\w.-]+)*(?<!\.d)\.[tj]s$/.test(file) && !/(^|\/)(\.|node_modules\/)/.test(file)
}

/** Returns why a path cannot be used: a part of it is a symbolic link, or a file instead of a folder. */
function findLink(root: string, file: string): string | undefined {
  const steps = file.split('/')
  for (const index of steps.keys()) {
    const stats = lstatSync(path.join(root, ...steps.slice(0, index + 1)), { throwIfNoEntry: false })
    if (stats === undefined) return undefined
    if (stats.isSymbolicLink()) return 'a symbolic link leads to it'
    if (index < steps.length - 1 && !stats.isDirectory()) return 'another file is in a folder with this name'
  }
  return undefined
}

function describe(error: unknown): DraftStatus['problem'] {
  if (!isWaypostError(error)) return { code: '', message: messageOf(error), hint: undefined }
  const { code, message, hint } = error
  return { code, message, hint }
}

function shorten(folder: string): string {
  const home = findHome()
  if (home === undefined) return folder
  const relative = path.relative(home, folder)
  const isBelow = relative !== '' && !relative.startsWith('..') && !path.isAbsolute(relative)
  return isBelow ? path.join('~', relative) : folder
}
