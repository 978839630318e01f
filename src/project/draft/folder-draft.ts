import { homedir } from 'node:os'
import path from 'node:path'
import type { Draft, DraftBase, DraftFiles, DraftStatus } from '../../backend/index.ts'
import { makeSourceCache, openEditing } from '../../definition/index.ts'
import { isWaypostError, messageOf, type Clock } from '../../kit/index.ts'
import type { Project } from '../find-project.ts'
import type { ReloadResult } from '../reloader.ts'
import { isDefinitionFile, openFolderFiles, type FolderFiles } from './folder-files.ts'
import { openBase } from './load-base.ts'

/** The folder of a project as the draft that the pages of the backend edit. */
export class FolderDraft implements Draft {
  readonly name: string
  readonly folder: string
  readonly place: string
  readonly #clock: Clock
  readonly #cache = makeSourceCache()
  readonly #files: FolderFiles
  readonly #loadBase: Draft['loadBase']
  /** The files of the definition as last loaded. */
  #used: readonly string[] = []
  #status: DraftStatus = { diagnostics: [], problem: undefined, isServed: false, servedAt: undefined }

  constructor({ root, label }: Project, clock: Clock) {
    this.name = label
    this.folder = path.resolve(root)
    this.place = shorten(this.folder)
    this.#clock = clock
    this.#files = openFolderFiles(this.folder)
    this.#loadBase = openBase(this.folder, this.#files.read([]).texts)
  }

  async read(): Promise<DraftFiles> {
    const read = this.#files.read(this.#used)
    return { ...read, editing: openEditing(this.folder, { texts: read.texts, cache: this.#cache }) }
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

  /** Records the result of a reload. */
  reloaded(result: ReloadResult): void {
    const { diagnostics, files } = result
    if (files.length > 0) this.#used = files
    const isServed = !('failed' in result)
    const servedAt = isServed ? this.#clock.now() : this.#status.servedAt
    this.#status = { diagnostics, problem: 'error' in result ? describe(result.error) : undefined, isServed, servedAt }
  }
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
