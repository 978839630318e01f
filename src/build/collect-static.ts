import { lstatSync, readdirSync, type Dirent } from 'node:fs'
import path from 'node:path'
import {
  openFolder,
  readProjectBytes,
  type Definition,
  type ProjectFolder,
  type StaticFolder,
} from '../definition/index.ts'
import type { Diagnostic } from '../kit/index.ts'
import { makeFileArtifact, type Artifact } from '../release/index.ts'
import { assetLimits, sizeOf } from './collect-assets.ts'
import { compareText } from './compare-text.ts'
import { makeDiagnostic, makePlace } from './make-diagnostic.ts'

/** Files of static folders by their path in the folder, with the hash of their artifact; by path of the folder in the API. */
export type StaticFiles = Readonly<Record<string, Readonly<Record<string, string>>>>

export interface CollectedStatic {
  readonly files: StaticFiles
  readonly artifacts: readonly Artifact[]
  /** The folders, with a slash at their end. */
  readonly folders: readonly string[]
  readonly diagnostics: readonly Diagnostic[]
}

/** Files that were read before, by name and state. */
export type StaticCache = Map<string, { readonly state: string; readonly artifact: Artifact }>

const maxFiles = 5000

/** Reads the files of the static folders of a definition. Names that begin with a dot are left out. */
export function collectStatic(root: string, { static: folders = {} }: Definition, cache: StaticCache): CollectedStatic {
  const project = openFolder(root)
  const files: Record<string, Record<string, string>> = {}
  const artifacts = new Map<string, Artifact>()
  const diagnostics: Diagnostic[] = []
  const used = new Set<string>()
  const reading = { cache, used, artifacts, bytes: 0 }
  for (const [at, folder] of Object.entries(folders).toSorted(([a], [b]) => compareText(a, b))) {
    if (project === undefined) continue
    const found = readFolder(project, folder, reading)
    diagnostics.push(...found.diagnostics)
    files[at] = Object.fromEntries(found.files.map(([name, { hash }]) => [name, hash]))
  }
  for (const name of cache.keys()) if (!used.has(name)) cache.delete(name)
  const watched = Object.values(folders).map(({ folder }) => `${folder}/`)
  return { files, artifacts: [...artifacts.values()], folders: watched, diagnostics }
}

interface Reading {
  readonly cache: StaticCache
  readonly used: Set<string>
  /** Those that were read, by hash. */
  readonly artifacts: Map<string, Artifact>
  bytes: number
}

function readFolder(project: ProjectFolder, folder: StaticFolder, reading: Reading) {
  const refused: { readonly name: string; readonly reason: string }[] = []
  const files: [string, Artifact][] = []
  const refuse = (name: string, reason: string) => void refused.push({ name, reason })
  const names = listFiles(project, folder.folder, refuse)
  for (const name of names) {
    if (reading.bytes > assetLimits.releaseBytes) break // `checkAssets` reports it; the rest would only fill the memory
    const read = readFile(project, `${folder.folder}/${name}`, reading)
    if (typeof read === 'string') refuse(`${folder.folder}/${name}`, read)
    else {
      files.push([name, read])
      if (!reading.artifacts.has(read.hash)) reading.bytes += sizeOf(read)
      reading.artifacts.set(read.hash, read)
    }
  }
  const { fallback } = folder
  if (fallback !== undefined && refused.length === 0 && !names.includes(fallback))
    refuse(`${folder.folder}/${fallback}`, 'it does not exist, but is the "fallback"')
  return { files, diagnostics: describeRefused(folder, refused) }
}

/** How many files of a folder are named. A folder of links may have thousands. */
const maxRefused = 10

function describeRefused(
  { folder, at }: StaticFolder,
  refused: readonly { readonly name: string; readonly reason: string }[],
): readonly Diagnostic[] {
  const others = refused.length - maxRefused
  const more = others > 0 ? [{ name: folder, reason: `${others} more of its files cannot be served` }] : []
  const place = makePlace(at.file, at.line, { column: at.column })
  return [...refused.slice(0, maxRefused), ...more].map((parameters) =>
    makeDiagnostic('WP_BUILD_STATIC_FILE', place, { parameters }),
  )
}

/** Lists the files below a folder, in an order that does not depend on the file system. */
function listFiles(
  { realRoot }: ProjectFolder,
  folder: string,
  refuse: (name: string, reason: string) => void,
): readonly string[] {
  const found: string[] = []
  const folders = ['']
  for (const at of folders) {
    const entries = listEntries(path.join(realRoot, folder, at))
    if (typeof entries === 'string') {
      refuse(path.posix.join(folder, at), entries)
      return []
    }
    for (const entry of entries) {
      const name = `${at}${entry.name}`
      if (entry.name.startsWith('.')) continue
      if (entry.isDirectory()) folders.push(`${name}/`)
      else if (!entry.isFile())
        refuse(`${folder}/${name}`, entry.isSymbolicLink() ? 'it is a link' : 'it is not a regular file')
      else if (/[\\\p{Cc}]/u.test(name)) refuse(`${folder}/${name}`, 'its name has a control character or a backslash')
      else if (/(?:^|\/)(?:waypost\.yml|package\.json)$/.test(name))
        refuse(`${folder}/${name}`, 'all files of the folder are public, but this is a project file')
      else found.push(name)
      if (found.length > maxFiles || folders.length > maxFiles) {
        refuse(folder, `it has more than ${maxFiles} files`)
        return []
      }
    }
  }
  return found.toSorted(compareText)
}

function listEntries(folder: string): readonly Dirent[] | string {
  try {
    if (lstatSync(folder).isSymbolicLink()) return 'it is a link'
    return readdirSync(folder, { withFileTypes: true })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code === 'ENOENT'
      ? 'it does not exist'
      : code === 'ENOTDIR'
        ? 'it is not a folder'
        : `it cannot be read (${code})`
  }
}

/** @returns why the file cannot be read, if it cannot */
function readFile(project: ProjectFolder, name: string, { cache, used }: Reading): Artifact | string {
  used.add(name)
  const { size, mtimeMs, ino } = lstatSync(path.join(project.realRoot, name), { throwIfNoEntry: false }) ?? {}
  const state = [size, mtimeMs, ino].join(' ')
  const known = cache.get(name)
  if (known !== undefined && known.state === state) return known.artifact
  const read = readProjectBytes(project, name, assetLimits.fileBytes)
  if ('bytes' in read) {
    const artifact = makeFileArtifact(path.posix.basename(name), read.bytes)
    cache.set(name, { state, artifact })
    return artifact
  }
  if (read.problem === 'outside') return 'it is outside the project'
  return read.problem === 'refused' ? read.reason : 'it does not exist'
}
