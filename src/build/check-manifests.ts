import { readdirSync, statSync, type Dirent } from 'node:fs'
import path from 'node:path'
import type { Diagnostic } from '../kit/index.ts'
import { makeDiagnostic, makePlace } from './make-diagnostic.ts'

/** A data folder may contain any number of folders without sources. */
const maxFolders = 10_000

/**
 * Checks each package.json of the project and of the folders of the files and their parents. esbuild reads those on the
 * path of each import, and would wait for a pipe.
 */
export function checkManifests(root: string, files: readonly string[]): Diagnostic[] {
  const folders = new Set<string>(['.'])
  for (const file of files) {
    for (let at = path.posix.dirname(file); !folders.has(at) && at !== '/'; at = path.posix.dirname(at)) folders.add(at)
  }
  const manifests = [...folders].map((folder) => path.posix.join(folder, 'package.json'))
  return [...new Set([...manifests, ...findIrregular(root)])].flatMap((file) => {
    const stats = statSync(path.join(root, file), { throwIfNoEntry: false })
    if (stats === undefined || stats.isFile() || stats.isDirectory()) return []
    const parameters = { name: file, reason: 'it is not a regular file' }
    return makeDiagnostic('WP_BUILD_FILE_REFUSED', makePlace(file, 1), { parameters })
  })
}

/** Finds each package.json of the project that is not a regular file, except in installed packages. */
function findIrregular(root: string): string[] {
  const found: string[] = []
  const folders = ['']
  for (let index = 0; index < Math.min(folders.length, maxFolders); index++) {
    const folder = folders[index]!
    for (const entry of listFolder(path.join(root, folder))) {
      const name = path.posix.join(folder, entry.name)
      if (entry.name === 'package.json' && !entry.isFile()) found.push(name)
      if (entry.isDirectory() && entry.name !== 'node_modules' && !entry.name.startsWith('.')) folders.push(name)
    }
  }
  return found
}

function listFolder(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return []
  }
}
