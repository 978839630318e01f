import { lstatSync, readdirSync, type Dirent } from 'node:fs'
import path from 'node:path'
import { openFolder, readProjectFile, type Texts } from '../../definition/index.ts'
import { isStorable } from '../../kit/index.ts'
import { fileLimits, findPathProblem, hashFileList, hashFiles } from '../../release/index.ts'

/** Reads the definition files of a folder. Files that did not change since the last time are not read again. */
export interface FolderFiles {
  /** @param used the files that the definition includes; other files are found by their folder */
  read(used: Iterable<string>): { readonly texts: Texts; readonly revision: string }
}

interface KnownFile {
  readonly stamp: string
  /** Undefined if the file cannot be edited. */
  readonly text: string | undefined
}

export function openFolderFiles(root: string): FolderFiles {
  let known: ReadonlyMap<string, KnownFile> = new Map()
  let last: { readonly texts: Texts; readonly revision: string } | undefined
  return {
    read(used) {
      const current = new Map<string, KnownFile>()
      const names = new Set(['waypost.yml', ...used, ...listFolder(root, 'resources'), ...listMigrations(root)])
      for (const file of [...names].toSorted()) {
        if (current.size >= fileLimits.files) break
        if (findPathProblem(file) !== undefined) continue
        const stamp = stampOf(path.join(root, file))
        if (stamp === undefined) continue
        const before = known.get(file)
        current.set(file, before?.stamp === stamp ? before : { stamp, text: readText(root, file) })
      }
      const isSame = current.size === known.size && [...current].every(([file, one]) => known.get(file) === one)
      known = current
      if (last !== undefined && isSame) return last
      const files = [...current].flatMap(([file, { text }]) =>
        text === undefined ? [] : [{ path: file, content: text }],
      )
      const texts = new Map(files.map(({ path: file, content }) => [file, content]))
      return (last = { texts, revision: hashFileList(hashFiles(files)).slice(0, 32) })
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
