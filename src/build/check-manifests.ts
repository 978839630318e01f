import { statSync } from 'node:fs'
import path from 'node:path'
import type { Diagnostic } from '../kit/index.ts'
import { makeDiagnostic, makePlace } from './make-diagnostic.ts'

/** Checks each package.json beside or above the files: esbuild reads those too, and would wait for a pipe. */
export function checkManifests(root: string, files: readonly string[]): Diagnostic[] {
  const folders = new Set<string>(['.'])
  for (const file of files) {
    for (let at = path.posix.dirname(file); !folders.has(at) && at !== '/'; at = path.posix.dirname(at)) folders.add(at)
  }
  return [...folders].flatMap((folder) => {
    const file = path.posix.join(folder, 'package.json')
    const there = statSync(path.join(root, file), { throwIfNoEntry: false })
    if (there === undefined || there.isFile() || there.isDirectory()) return []
    const parameters = { name: file, reason: 'it is no regular file' }
    return makeDiagnostic('WP_BUILD_FILE_REFUSED', makePlace(file, 1), { parameters })
  })
}
