import { lstatSync } from 'node:fs'
import { homedir } from 'node:os'
import path from 'node:path'
import {
  draftErrors as errors,
  type Draft,
  type DraftBase,
  type DraftFiles,
  type DraftStatus,
  type FileChange,
} from '../../backend/index.ts'
import type { PluginBuilder } from '../../build/index.ts'
import { makeSourceCache, openEditing, type Texts } from '../../definition/index.ts'
import { isStorable, isWaypostError, messageOf, type Clock, type Diagnostic, type Variables } from '../../kit/index.ts'
import { findFilesProblem, findPathProblem } from '../../release/index.ts'
import type { Project } from '../find-project.ts'
import { ChangedOnDisk, sortChanges, writeFiles } from '../generate/write-files.ts'
import { loadProject } from '../load-project.ts'
import type { ReloadResult } from '../reloader.ts'
import { isDefinitionFile, openFolderFiles, type FolderFiles } from './folder-files.ts'
import type { SessionMigrations } from '../session-migrations.ts'
import { FolderTables } from './folder-tables.ts'
import { openBase } from './load-base.ts'

/** The reload of files that are about to be written. */
export interface ExpectedReload {
  /** Whether all files were reloaded within 10 s. */
  readonly done: Promise<boolean>
  /** Called if they are not written. */
  cancel(): void
}

/** What the draft uses of a running `dev`. */
export interface DraftConnection {
  readonly watching: { expect(files: readonly string[]): ExpectedReload }
  readonly pluginBuilder: PluginBuilder
  readonly variables: Variables
}

interface FolderDraftOptions {
  readonly clock: Clock
  readonly migrations: SessionMigrations
}

/** The folder of a project as the draft that the pages of the backend edit. */
export class FolderDraft implements Draft {
  readonly name: string
  readonly folder: string
  readonly place: string
  readonly #project: Project
  readonly #clock: Clock
  readonly #edited = makeSourceCache()
  readonly #checked = makeSourceCache()
  readonly #files: FolderFiles
  readonly #loadBase: Draft['loadBase']
  /** The files of the definition as last loaded. */
  #used: readonly string[] = []
  #status: DraftStatus = { diagnostics: [], problem: undefined, isServed: false, servedAt: undefined }
  #connection: DraftConnection | undefined
  #last: Promise<unknown> = Promise.resolve()

  readonly tables: FolderTables

  constructor(project: Project, { clock, migrations }: FolderDraftOptions) {
    this.name = project.label
    this.folder = path.resolve(project.root)
    this.tables = new FolderTables({ project, migrations, clock, save: (changes) => this.#save(changes) })
    this.place = shorten(this.folder)
    this.#project = project
    this.#clock = clock
    this.#files = openFolderFiles(this.folder)
    this.#loadBase = openBase(this.folder, this.#files.read([]).texts)
  }

  /** Called when `dev` watches the files. */
  connect(connection: DraftConnection): void {
    this.#connection = connection
  }

  async read(): Promise<DraftFiles> {
    const read = this.#files.read(this.#used)
    return { ...read, editing: openEditing(this.folder, { texts: read.texts, cache: this.#edited }) }
  }

  async loadBase(): Promise<DraftBase> {
    const { texts, ...base } = await this.#loadBase()
    const used = new Set(this.#used)
    // Git has other .yml and .json files, for example of tests.
    return { ...base, texts: new Map([...texts].filter(([file]) => isDefinitionFile(file) || used.has(file))) }
  }

  status(): DraftStatus {
    return this.#status
  }

  exclusive<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(work)
    this.#last = result.catch(() => undefined)
    return result
  }

  async findNewErrors(changes: readonly FileChange[]): Promise<readonly Diagnostic[]> {
    const found = await this.#loadErrors(new Map(changes.map(({ file, text }) => [file, text])))
    if (found.length === 0) return []
    const known = Map.groupBy(await this.#loadErrors(new Map()), nameProblem)
    return found.filter((one) => known.get(nameProblem(one))?.pop() === undefined)
  }

  async #loadErrors(texts: ReadonlyMap<string, string | undefined>): Promise<readonly Diagnostic[]> {
    const { pluginBuilder, variables } = this.#connection ?? {}
    const { diagnostics, needsMigration } = await loadProject(this.#project, {
      texts,
      cache: this.#checked,
      ...(variables && { variables }),
      ...(pluginBuilder && { pluginBuilder }),
    })
    // The reload writes outdated tables again.
    const isOutdated = ({ file }: Diagnostic) => needsMigration && file.startsWith('migrations/')
    return diagnostics.filter((one) => one.severity === 'error' && !isOutdated(one))
  }

  async write(changes: readonly FileChange[]): ReturnType<Draft['write']> {
    const { texts } = this.#files.read(this.#used)
    assertWritable(this.folder, changes, texts)
    const reload = this.#connection?.watching.expect(changes.map(({ file }) => file))
    try {
      await writeFiles(this.folder, sortChanges(changes))
    } catch (error) {
      reload?.cancel()
      if (isWaypostError(error) && error.cause instanceof ChangedOnDisk) return undefined
      throw error
    }
    const isReloaded = reload?.done ?? Promise.resolve(false)
    return { served: isReloaded.then((is) => is && this.#status.isServed) }
  }

  /** @returns why the written files are not served */
  async #save(changes: readonly FileChange[]): Promise<string | undefined> {
    const written = await this.exclusive(() => this.write(changes))
    if (written === undefined) throw errors.WP_BACKEND_DRAFT_BUSY({ attempts: 1 })
    await written.served
    const { diagnostics, problem, isServed } = this.#status
    if (isServed) return undefined
    return problem?.message ?? diagnostics.find(({ severity }) => severity === 'error')?.message ?? ''
  }

  /** Records the result of a reload. */
  reloaded(result: ReloadResult): void {
    const { diagnostics, files } = result
    if (files.length > 0) this.#used = files
    const isServed = !('failed' in result)
    const servedAt = isServed ? this.#clock.now() : this.#status.servedAt
    this.#status = { diagnostics, problem: 'error' in result ? describe(result.error) : undefined, isServed, servedAt }
  }
}

/** Names a problem without its line, which an edit above it changes. */
function nameProblem({ code, file, message }: Diagnostic): string {
  return `${code} ${file} ${message}`
}

/** @throws WP_BACKEND_DRAFT_REFUSED */
function assertWritable(root: string, changes: readonly FileChange[], texts: Texts): void {
  for (const { file, text, before } of changes) {
    const reason =
      findPathProblem(file) ??
      (before === undefined && !mayCreate(file, texts) ? 'it is not a file of the definition' : undefined) ??
      (text !== undefined && !isStorable(text) ? 'it contains a NUL character' : undefined) ??
      (hasLink(root, file) ? 'a symbolic link leads to it' : undefined)
    if (reason !== undefined) throw errors.WP_BACKEND_DRAFT_REFUSED({ file, reason })
  }
  const after = new Map<string, string | undefined>(texts)
  for (const { file } of changes) after.delete(file)
  for (const { file, text } of changes) if (text !== undefined) after.set(file, text)
  const problem = findFilesProblem([...after].map(([file, text]) => ({ path: file, bytes: Buffer.byteLength(text!) })))
  if (problem !== undefined && changes.some(({ file }) => file === problem.path))
    throw errors.WP_BACKEND_DRAFT_REFUSED({ file: problem.path, reason: problem.problem })
}

/** A new file has a place of its own or is next to another file of the definition. */
function mayCreate(file: string, texts: Texts): boolean {
  const folder = path.posix.dirname(file)
  const isBeside = folder !== '.' && [...texts.keys()].some((one) => path.posix.dirname(one) === folder)
  return isDefinitionFile(file) || isBeside
}

/** Whether the file or one of its folders is a symbolic link. */
function hasLink(root: string, file: string): boolean {
  const steps = file.split('/')
  return steps.some((_, index) => {
    const part = path.join(root, ...steps.slice(0, index + 1))
    return lstatSync(part, { throwIfNoEntry: false })?.isSymbolicLink() === true
  })
}

function describe(error: unknown): DraftStatus['problem'] {
  if (!isWaypostError(error)) return { code: '', message: messageOf(error), hint: undefined }
  const { code, message, hint } = error
  return { code, message, hint }
}

function shorten(folder: string): string {
  const relative = path.relative(homedir(), folder)
  const isBelow = relative !== '' && !relative.startsWith('..') && !path.isAbsolute(relative)
  return isBelow ? path.join('~', relative) : folder
}
