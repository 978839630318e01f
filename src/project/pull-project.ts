import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import {
  findValue,
  listReachedFiles,
  makeSourceCache,
  mergeDefinitions,
  openEditing,
  type MergeConflict,
  type SourceCache,
  type Texts,
} from '../definition/index.ts'
import type { Variables } from '../kit/index.ts'
import { findBase, type DefinitionFile, type FileHashes } from '../release/index.ts'
import { openTarget } from './deploy/open-target.ts'
import { openFolderFiles } from './draft/folder-files.ts'
import { errors } from './errors.ts'
import { sortChanges, writeFiles, type FileChange } from './generate/write-files.ts'
import { assertFolder, completeProject } from './init/init-project.ts'

export interface PullOptions {
  /** The folder of the project. Without a `waypost.yml`, a project is created there. */
  readonly folder: string
  /** The folder whose environment selects System. */
  readonly from: string
  readonly variables: Variables
  /** The URL of a running server; by default System from the environment. */
  readonly url?: string | undefined
  /** Whether to pull the draft of the server instead of its active release. */
  readonly isDraft?: boolean | undefined
  /** What to write where the folder and the server changed the same in different ways; by default that is an error. */
  readonly prefer?: 'mine' | 'theirs' | undefined
  /** Called before anything is written; not called without changes. @returns whether to continue */
  confirm?(pull: Pull): Promise<boolean>
}

/** The definition of the active release, brought into a folder. */
export interface Pull {
  /** The address of System or of the server, without secrets. */
  readonly address: string
  /** The id of the active release; undefined if there is only a draft. */
  readonly release: string | undefined
  /** The commit that was deployed last; the changes since then are pulled. */
  readonly commit: string | undefined
  /** Written and deleted files. */
  readonly files: readonly { readonly file: string; readonly change: 'added' | 'changed' | 'removed' }[]
  /** Left as they are in the folder, unless `prefer` is theirs. */
  readonly conflicts: readonly MergeConflict[]
  /** Files with code that the definition names and the folder lacks. A release contains no sources. */
  readonly missingCode: readonly string[]
  /** Whether the folder had no project. */
  readonly isNew: boolean
}

/**
 * Writes what was changed on the server since the last deployment from Git into a folder. Values are compared key by
 * key; what the folder itself changed stays. A folder without a project gets all files.
 * @returns undefined if it was not confirmed
 * @throws WP_PROJECT_NO_FOLDER, WP_PROJECT_PULL_NOTHING, WP_PROJECT_PULL_BASE, WP_PROJECT_PULL_TAKEN, WP_PROJECT_WRITE,
 * WP_DEFINITION_EDIT_REFUSED, WP_RELEASE_NO_FILES and the errors of `openTarget`
 */
export async function pullProject(options: PullOptions): Promise<Pull | undefined> {
  const { folder, from, prefer, isDraft = false } = options
  await assertFolder(folder)
  const target = await openTarget({ ...options, folder: from })
  const isNew = !existsSync(path.join(folder, 'waypost.yml'))
  let published
  let versions: readonly FileHashes[] = []
  try {
    published = await target.loadFiles(isDraft ? 'draft' : 'release')
    if (!isNew) versions = await target.listFileVersions()
  } finally {
    await target.close()
  }
  const { address } = target
  if (published === undefined) throw errors.WP_PROJECT_PULL_NOTHING({ address })
  const theirs = toTexts(published.files)
  const commit = published.inGit?.commit
  const inGit = published.inGit && toTexts(published.inGit.files)
  const cache = makeSourceCache()
  const others = [...theirs.keys(), ...(inGit?.keys() ?? [])]
  const mine = isNew ? new Map<string, string>() : readFolder(folder, { others, cache })
  const base = isNew ? new Map<string, string>() : findBase(mine, { versions, inGit, theirs })
  if (base === undefined) throw errors.WP_PROJECT_PULL_BASE({ folder: path.basename(folder) })
  const { files, conflicts } = isNew
    ? { files: new Map([['waypost.yml', 'routes: {}\n'], ...theirs]), conflicts: [] } // a release may have tables only
    : mergeDefinitions({ base, theirs, mine }, prefer, cache)
  const changes = [...files].map(([file, text]): FileChange => ({ file, text, before: mine.get(file) }))
  if (isNew) assertFree(folder, changes)
  const after = new Map([...mine, ...files].flatMap(([file, text]) => (text === undefined ? [] : [[file, text]])))
  const pull: Pull = {
    address,
    release: published.id,
    commit,
    files: changes.map(({ file, text, before }) => ({
      file,
      change: before === undefined ? 'added' : text === undefined ? 'removed' : 'changed',
    })),
    conflicts,
    missingCode: listCode(after, cache).filter((file) => !existsSync(path.join(folder, file))),
    isNew,
  }
  if (changes.length > 0 && options.confirm !== undefined && !(await options.confirm(pull))) return undefined
  if (isNew) await mkdir(folder, { recursive: true })
  await writeFiles(folder, sortChanges(changes))
  if (isNew) await completeProject(folder)
  return pull
}

function toTexts(files: readonly DefinitionFile[]): Texts {
  return new Map(files.map(({ path: file, content }) => [file, content]))
}

interface ReadingFolder {
  /** Files that belong to the definition elsewhere. */
  readonly others: readonly string[]
  readonly cache: SourceCache
}

function readFolder(root: string, { others, cache }: ReadingFolder): Texts {
  return openFolderFiles(root).read([...listReachedFiles(openEditing(root, { cache })), ...others]).texts
}

/** @throws WP_PROJECT_PULL_TAKEN */
function assertFree(folder: string, changes: readonly FileChange[]): void {
  const taken = changes.find(({ file }) => existsSync(path.join(folder, file)))
  if (taken !== undefined) throw errors.WP_PROJECT_PULL_TAKEN({ folder: path.basename(folder), file: taken.file })
}

/** Lists the files with code that a definition names: actions, classes and plugins. */
function listCode(texts: Texts, cache: SourceCache): readonly string[] {
  const namesCode = [...texts.values()].some((text) => /\.[cm]?[jt]s\b/.test(text))
  if (!namesCode) return [] // parsing a large definition takes most of the time of a pull
  const found = new Set<string>()
  const visit = (value: unknown, key: string): void => {
    if (typeof value === 'string') {
      if (/^(action|use|name|plugins)$/.test(key) && /^[\w@./-]+\.[cm]?[jt]s$/.test(value))
        found.add(path.posix.normalize(value))
    } else if (Array.isArray(value)) for (const item of value) visit(item, key)
    else if (typeof value === 'object' && value !== null)
      for (const [name, item] of Object.entries(value)) visit(item, name)
  }
  visit(findValue(openEditing(undefined, { texts, cache }), []), '')
  return [...found].filter((file) => !file.startsWith('../')).toSorted()
}
