import { lstatSync, readdirSync, type Dirent } from 'node:fs'
import path from 'node:path'
import { openFolder, readProjectFile, type Texts } from '../../definition/index.ts'
import { isStorable, sha256 } from '../../kit/index.ts'
import { fileLimits, findPathProblem, hashFileList, isDefinitionFile } from '../../release/index.ts'

/** Reads the definition files of a folder. Files that did not change since the last time are not read again. */
export interface FolderFiles {
  /** @param used the files that the definition includes; other files are found by their folder */
  read(used: Iterable<string>): ReadFiles
  /** Reads only these of its files, which may be new or deleted; the others are as they were read last. */
  readAgain(files: readonly string[]): ReadFiles
  /** Returns the files as they were read last. */
  readonly last: ReadFiles | undefined
}

interface ReadFiles {
  readonly texts: Texts
  readonly revision: string
}

interface KnownFile {
  readonly stamp: string
  /** Undefined if the file cannot be edited. */
  readonly text: string | undefined
  /** The SHA-256 of the text. */
  readonly hash: string
}

export function openFolderFiles(root: string): FolderFiles {
  let known: ReadonlyMap<string, KnownFile> = new Map()
  let last: ReadFiles | undefined
  const readOne = (file: string): KnownFile | undefined => {
    if (findPathProblem(file) !== undefined) return undefined
    const stamp = stampOf(path.join(root, file))
    if (stamp === undefined) return undefined
    const before = known.get(file)
    if (before?.stamp === stamp) return before
    const text = readText(root, file)
    return { stamp, text, hash: text === undefined ? '' : sha256(text) }
  }
  const readAll = (names: ReadonlySet<string>, found: (file: string) => KnownFile | undefined): ReadFiles => {
    const current = new Map<string, KnownFile>()
    for (const file of [...names].toSorted()) {
      if (current.size >= fileLimits.files) break
      const one = found(file)
      if (one !== undefined) current.set(file, one)
    }
    const isSame = current.size === known.size && [...current].every(([file, one]) => known.get(file) === one)
    known = current
    if (last !== undefined && isSame) return last
    const files = [...current].filter(([, { text }]) => text !== undefined)
    const texts = new Map(files.map(([file, { text }]) => [file, text!]))
    const revision = hashFileList(Object.fromEntries(files.map(([file, { hash }]) => [file, hash]))).slice(0, 32)
    return (last = { texts, revision })
  }
  return {
    get last() {
      return last
    },
    read: (used) =>
      readAll(new Set(['waypost.yml', ...used, ...listFolder(root, 'resources'), ...listMigrations(root)]), readOne),
    readAgain(files) {
      const again = new Set(files.filter((file) => known.has(file) || isDefinitionFile(file)))
      return readAll(new Set([...known.keys(), ...again]), (file) =>
        again.has(file) ? readOne(file) : known.get(file),
      )
    },
  }
}

/** Links are never followed: what they lead to may be outside of the project, or no definition file. */
function readText(root: string, file: string): string | undefined {
  const folder = openFolder(root)
  const read = folder && readProjectFile(folder, file)
  return read !== undefined && 'text' in read && !read.isLinked && isStorable(read.text) ? read.text : undefined
}

function stampOf(file: string): string | undefined {
  const stats = lstatSync(file, { bigint: true, throwIfNoEntry: false })
  return stats?.isFile() ? `${stats.dev} ${stats.ino} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}` : undefined
}

/** More folders and files than any definition has. */
const maxEntries = 20_000

/** Lists the files below a folder, without following links. */
function listFolder(root: string, top: string): readonly string[] {
  const found: string[] = []
  const folders = [top]
  for (let entries = 0; folders.length > 0 && entries < maxEntries;) {
    const at = folders.pop()!
    for (const entry of readEntries(root, at)) {
      entries += 1
      if (entry.isDirectory()) folders.push(`${at}/${entry.name}`)
      else if (entry.isFile()) found.push(`${at}/${entry.name}`)
    }
  }
  return found
}

function listMigrations(root: string): readonly string[] {
  return readEntries(root, 'migrations')
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name }) =>
      readEntries(root, `migrations/${name}`)
        .filter((entry) => entry.isFile() && (entry.name.endsWith('.yml') || entry.name === 'tables.json'))
        .map((entry) => `migrations/${name}/${entry.name}`),
    )
}

function readEntries(root: string, at: string): readonly Dirent[] {
  try {
    const isFolder = lstatSync(path.join(root, at)).isDirectory()
    return isFolder ? readdirSync(path.join(root, at), { withFileTypes: true }) : []
  } catch {
    return []
  }
}
