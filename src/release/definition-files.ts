import path from 'node:path'
import type { Transaction } from 'kysely'
import { isStorable, sha256, shortId } from '../kit/index.ts'
import type { System, SystemTables } from '../store/index.ts'
import { inBatches } from './batches.ts'
import { errors } from './errors.ts'
import { storeContents } from './store-contents.ts'

/** A file of the definition, as an activation keeps it. */
export interface DefinitionFile {
  /** Relative to the project's root, with forward slashes. */
  readonly path: string
  readonly content: string
}

/** The definition files of an activation: path → SHA-256 of the content. */
export type FileHashes = Readonly<Record<string, string>>

/** Limits for the definition files of one activation. */
export const fileLimits = { fileBytes: 1024 * 1024, totalBytes: 8 * 1024 * 1024, files: 2000, pathLength: 300 } as const

const foreignNames = /^(package(-lock)?|npm-shrinkwrap|[tj]sconfig(\..*)?)\.json$/i

/** Returns why a path cannot be that of a definition file; undefined if it can. */
export function findPathProblem(file: string): string | undefined {
  const steps = file.split('/')
  if (file.length > fileLimits.pathLength) return `its path has more than ${fileLimits.pathLength} characters`
  if (!isStorable(file) || /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\\:]/u.test(file) || steps.includes(''))
    return 'its path contains characters that are not allowed'
  if (steps.some((step) => step.startsWith('.'))) return 'a part of its path begins with a dot'
  if (steps.includes('node_modules')) return 'it belongs to an installed package'
  if (foreignNames.test(steps.at(-1)!)) return 'it configures other tools'
  return /\.(ya?ml|json)$/.test(file) ? undefined : 'it is neither a .yml nor a .json file'
}

/** Whether a file belongs to the definition because of its path. Others belong to it because they are included. */
export function isDefinitionFile(file: string): boolean {
  return (
    findPathProblem(file) === undefined &&
    (file === 'waypost.yml' ||
      file.startsWith('resources/') ||
      /^migrations\/\w+\/([^/]+\.yml|tables\.json)$/.test(file))
  )
}

/** Whether a new file has a place of its own, or is next to another file of the definition. */
export function mayAddFile(file: string, others: Iterable<string>): boolean {
  const folder = path.posix.dirname(file)
  return isDefinitionFile(file) || (folder !== '.' && [...others].some((one) => path.posix.dirname(one) === folder))
}

/** A problem of several definition files together. */
export interface FilesProblem {
  /** The first file that is too much. */
  readonly path: string
  readonly problem: string
}

/** Finds a limit that definition files exceed, or two paths that are one on some file systems. */
export function findFilesProblem(
  files: readonly { readonly path: string; readonly bytes: number }[],
): FilesProblem | undefined {
  const { fileBytes, totalBytes, files: maxFiles } = fileLimits
  const known = new Map<string, string>()
  let total = 0
  for (const [index, { path, bytes }] of files.entries()) {
    if (index >= maxFiles) return { path, problem: `the definition has more than ${maxFiles} files` }
    if (bytes > fileBytes) return { path, problem: 'it is larger than 1 MB' }
    total += bytes
    if (total > totalBytes) return { path, problem: 'the files of the definition are larger than 8 MB' }
    const folded = foldPath(path)
    const other = known.get(folded)
    if (other !== undefined) return { path, problem: `its path differs from ${other} only in upper and lower case` }
    known.set(folded, path)
  }
  const isFolder = new Set([...known.keys()].flatMap(foldersOf))
  const both = files.find(({ path }) => isFolder.has(foldPath(path)))
  return both && { path: both.path, problem: 'another file is in a folder with this name' }
}

function foldPath(path: string): string {
  return path.normalize('NFC').toLowerCase()
}

function foldersOf(path: string): readonly string[] {
  const steps = path.split('/')
  return steps.slice(1).map((_, index) => steps.slice(0, index + 1).join('/'))
}

/** Returns the hashes of definition files, by path. */
export function hashFiles(files: readonly DefinitionFile[]): FileHashes {
  return Object.fromEntries(files.map(({ path, content }) => [path, sha256(content)]))
}

/** Writes the list of an activation's files, which System stores like a file. Equal files give equal texts. */
function writeList(hashes: FileHashes): string {
  return JSON.stringify(Object.fromEntries(Object.entries(hashes).toSorted(([a], [b]) => (a < b ? -1 : 1))))
}

/** Returns the hash of the list of these files. Equal files have equal lists. */
export function hashFileList(hashes: FileHashes): string {
  return sha256(writeList(hashes))
}

/** Returns the hash of the list of the active release's files; undefined if it has none. */
export async function findActiveFileList({ db }: Pick<System, 'db'>): Promise<string | undefined> {
  const row = await db
    .selectFrom('waypost_activation')
    .select('files')
    .orderBy('number', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.files ?? undefined
}

/**
 * Stores definition files and their list.
 * @param stored hashes of files that are already stored
 * @returns the hash of the list
 */
export async function storeFiles(
  system: System,
  trx: Transaction<SystemTables>,
  files: readonly DefinitionFile[],
  stored: ReadonlySet<string> = new Set(),
): Promise<string> {
  const hashes = hashFiles(files)
  const list = writeList(hashes)
  const contents = new Map(files.map(({ path, content }) => [hashes[path]!, content]))
  const rows = [...contents, [sha256(list), list] as const].flatMap(([hash, content]) =>
    stored.has(hash) ? [] : [{ hash, content }],
  )
  await storeContents({ system, trx, table: 'waypost_file' }, rows)
  return sha256(list)
}

/**
 * Loads the definition files of a list.
 * @throws WP_RELEASE_FILES
 */
export async function loadFiles(system: Pick<System, 'db'>, list: string): Promise<readonly DefinitionFile[]> {
  const { files, damaged } = await loadIntactFiles(system, list)
  if (damaged !== undefined) throw errors.WP_RELEASE_FILES({ hash: shortId(damaged) })
  return files
}

/** Loads the definition files of a list that are not damaged, and the hash of one that is. */
export async function loadIntactFiles(
  { db }: Pick<System, 'db'>,
  list: string,
): Promise<{ readonly files: readonly DefinitionFile[]; readonly damaged: string | undefined }> {
  const contents = new Map<string, string>()
  const load = async (hashes: readonly string[]) => {
    for await (const batch of inBatches(hashes, () => 0)) {
      const rows = await db.selectFrom('waypost_file').select(['hash', 'content']).where('hash', 'in', batch).execute()
      for (const { hash, content } of rows) if (sha256(content) === hash) contents.set(hash, content)
    }
  }
  await load([list])
  const text = contents.get(list)
  if (text === undefined) return { files: [], damaged: list }
  const entries = Object.entries(JSON.parse(text) as FileHashes)
  await load([...new Set(entries.map(([, hash]) => hash))])
  const files = entries.flatMap(([file, hash]) => {
    const content = contents.get(hash)
    return content === undefined ? [] : [{ path: file, content }]
  })
  return { files, damaged: entries.find(([, hash]) => !contents.has(hash))?.[1] }
}

/** The definition files of the active release, and the version of them that was last in Git. */
export interface PublishedFiles {
  /** Of the active release; undefined if there is only a draft. */
  readonly id: string | undefined
  readonly files: readonly DefinitionFile[]
  /** Undefined if none of its versions was deployed from a folder. */
  readonly inGit: { readonly commit: string | undefined; readonly files: readonly DefinitionFile[] } | undefined
}

/**
 * Loads the definition files of the active release; undefined if there is none.
 * @throws WP_RELEASE_NO_FILES, WP_RELEASE_FILES
 */
export async function loadPublishedFiles({ db }: Pick<System, 'db'>): Promise<PublishedFiles | undefined> {
  const active = await db
    .selectFrom('waypost_activation as activation')
    .leftJoin('waypost_activation as in_git', 'in_git.number', 'activation.from_git')
    .select(['activation.release_id as id', 'activation.files', 'in_git.git_commit as commit', 'in_git.files as inGit'])
    .orderBy('activation.number', 'desc')
    .limit(1)
    .executeTakeFirst()
  if (active === undefined) return undefined
  const { id, files: list, commit, inGit } = active
  if (list === null) throw errors.WP_RELEASE_NO_FILES({ id: shortId(id) })
  const files = await loadFiles({ db }, list)
  if (inGit === null) return { id, files, inGit: undefined }
  return {
    id,
    files,
    inGit: { commit: commit ?? undefined, files: inGit === list ? files : await loadFiles({ db }, inGit) },
  }
}

/** How many versions a folder may be behind. */
const maxVersions = 20

/** Lists the definition files of the last activations, the newest first, each version once. Skips damaged lists. */
export async function listFileVersions({ db }: Pick<System, 'db'>): Promise<readonly FileHashes[]> {
  const rows = await db
    .selectFrom('waypost_activation as activation')
    .innerJoin('waypost_file as list', 'list.hash', 'activation.files')
    .select(['list.hash', 'list.content'])
    .groupBy(['list.hash', 'list.content'])
    .orderBy((column) => column.fn.max('activation.number'), 'desc')
    .limit(maxVersions)
    .execute()
  return rows.flatMap(({ hash, content }) => (sha256(content) === hash ? [JSON.parse(content) as FileHashes] : []))
}

/** Returns the files of the version that a folder has unchanged, as after `pull`: the one with the most files. */
export function findFileVersion(
  mine: ReadonlyMap<string, string>,
  versions: readonly FileHashes[],
): ReadonlyMap<string, string> | undefined {
  const hashes = new Map([...mine].map(([file, text]) => [file, sha256(text)]))
  const found = versions
    .map((files) => Object.entries(files))
    .filter((files) => files.length > 0 && files.every(([file, hash]) => hashes.get(file) === hash))
    .toSorted((one, other) => other.length - one.length)[0]
  return found && new Map(found.map(([file]) => [file, mine.get(file)!]))
}

type Files = ReadonlyMap<string, string>

/**
 * Returns what the changes of a folder and those of the server are relative to: the version that the folder has
 * unchanged; else the files last deployed from Git, with newer versions of the files that the folder has unchanged, as
 * after `pull`. If nothing was deployed from Git, it is the version of which the folder has the most files unchanged.
 * @param known `versions` has the newest first; `theirs` are the files of the server
 * @returns undefined if it cannot be determined
 */
export function findBase(
  mine: Files,
  known: { readonly versions: readonly FileHashes[]; readonly inGit: Files | undefined; readonly theirs: Files },
): Files | undefined {
  const { versions, inGit, theirs } = known
  const unchanged = findFileVersion(mine, versions)
  if (unchanged !== undefined) return unchanged
  const hashes = hashTexts(mine)
  if (inGit === undefined) return findNearestVersion(mine, { hashes, versions, theirs })
  const deployed = hashFileList(hashTexts(inGit))
  const place = versions.findIndex((version) => hashFileList(version) === deployed)
  const newer = place === -1 ? versions : versions.slice(0, place)
  const own = [...mine].filter(([file]) => newer.some((version) => version[file] === hashes[file]))
  return new Map([...inGit, ...own])
}

/** The texts of its other files must be those of the server, because the texts of earlier versions are not at hand. */
function findNearestVersion(
  mine: Files,
  {
    hashes,
    versions,
    theirs,
  }: { readonly hashes: FileHashes; readonly versions: readonly FileHashes[]; readonly theirs: Files },
): Files | undefined {
  const ofServer = hashTexts(theirs)
  const rated = versions.map((version) => ({
    files: Object.entries(version),
    count: Object.entries(version).filter(([file, hash]) => hashes[file] === hash).length,
  }))
  // The oldest of equal ones: changes of the server are a conflict rather than overlooked.
  const nearest = rated.toReversed().toSorted((one, other) => other.count - one.count)[0]
  if (nearest === undefined || nearest.count === 0) return undefined
  const texts = nearest.files.map(([file, hash]) => {
    const text = hashes[file] === hash ? mine.get(file) : ofServer[file] === hash ? theirs.get(file) : undefined
    return [file, text] as const
  })
  return texts.every((one): one is readonly [string, string] => one[1] !== undefined) ? new Map(texts) : undefined
}

function hashTexts(texts: Files): FileHashes {
  return hashFiles([...texts].map(([path, content]) => ({ path, content })))
}

/** Whether the definition was changed on the server since it was last deployed from a folder. */
export async function isChangedSinceGit({ db }: { readonly db: Pick<System['db'], 'selectFrom'> }): Promise<boolean> {
  const active = await db
    .selectFrom('waypost_activation as activation')
    .leftJoin('waypost_activation as in_git', 'in_git.number', 'activation.from_git')
    .select(['activation.files', 'in_git.files as inGit'])
    .orderBy('activation.number', 'desc')
    .limit(1)
    .executeTakeFirst()
  return active !== undefined && active.files !== null && active.files !== active.inGit
}

/** Deletes the definition files that neither an activation nor the draft uses; none if that cannot be determined. */
export async function deleteUnusedFiles(trx: Transaction<SystemTables>): Promise<void> {
  const used = new Set<string>()
  const lists = await trx
    .selectFrom((from) =>
      from
        .selectFrom('waypost_activation')
        .select('files')
        .union(from.selectFrom('waypost_draft').select('files'))
        .union(from.selectFrom('waypost_draft').select('base_files as files'))
        .as('used'),
    )
    .leftJoin('waypost_file', 'waypost_file.hash', 'used.files')
    .select(['used.files as list', 'waypost_file.content'])
    .where('used.files', 'is not', null)
    .$narrowType<{ list: string }>()
    .execute()
  for (const { list, content } of lists) {
    if (content === null || sha256(content) !== list) return
    used.add(list)
    for (const hash of Object.values(JSON.parse(content) as FileHashes)) used.add(hash)
  }
  const stored = await trx.selectFrom('waypost_file').select('hash').execute()
  const unused = stored.map(({ hash }) => hash).filter((hash) => !used.has(hash))
  for await (const batch of inBatches(unused, () => 0)) {
    await trx.deleteFrom('waypost_file').where('hash', 'in', batch).execute()
  }
}
