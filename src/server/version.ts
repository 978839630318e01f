import { readFileSync } from 'node:fs'
import path from 'node:path'

/** Waypost's own version, for example `1.0.0`. */
export const version: string = readJson('package.json')?.['version'] ?? '0.0.0'

/** The first 12 characters of the commit that was built, as the build wrote it; `source` where nothing was built. */
const buildHash: string = readJson('dist/build.json')?.['commit'] ?? 'source'

/** `waypost/<version>@<build_hash>` */
export const userAgent = `waypost/${version}@${buildHash}`

/** Reads a file of this installation, whose root is the folder with `package.json` above this module. */
function readJson(name: string): Record<string, string> | undefined {
  for (const up of ['../..', '../../..']) {
    const root = path.join(import.meta.dirname, up)
    try {
      JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'))
    } catch {
      continue
    }
    try {
      return JSON.parse(readFileSync(path.join(root, name), 'utf8')) as Record<string, string>
    } catch {
      return undefined
    }
  }
  return undefined
}
