import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { messageOf } from '../../kit/index.ts'
import { errors } from '../errors.ts'

export interface CopyOptions {
  /** A folder of `templates/`. */
  readonly source: string
  readonly folder: string
  /** Returns the text of the file written to `target`. */
  fill(target: string, text: string): string
  /** Only these files; all by default. */
  readonly only?: readonly string[]
}

export interface CopyResult {
  /** Written files, relative to the folder. */
  readonly files: readonly string[]
  /** Existing files that were not changed. */
  readonly left: readonly string[]
}

/** Copies the files of a template into a folder. Existing files are never changed. */
export async function copyFiles({ source, folder, fill, only }: CopyOptions): Promise<CopyResult> {
  const files: string[] = []
  const left: string[] = []
  for (const name of await listFiles(source)) {
    const target = name
      .replaceAll(/(^|\/)__/g, '$1.') // npm omits some dot files from packages
      .replace(/\.template\.json$/, '.json') // a package.json below that of Waypost would be a nested package
    if (only !== undefined && !only.includes(target)) continue
    const text = fill(target, await readFile(path.join(source, name), 'utf8'))
    if (await writeNew(path.join(folder, target), text)) files.push(target)
    else left.push(target)
  }
  return { files: files.sort(), left: left.sort() }
}

/**
 * @returns false if the path exists, also as a broken link
 * @throws WP_PROJECT_INIT
 */
async function writeNew(file: string, text: string): Promise<boolean> {
  try {
    await mkdir(path.dirname(file), { recursive: true })
    await writeFile(file, text, { flag: 'wx' })
    return true
  } catch (cause) {
    const { code, syscall } = cause as NodeJS.ErrnoException
    if (code === 'EEXIST' && syscall === 'open') return false
    throw errors.WP_PROJECT_INIT({ file, reason: messageOf(cause) }, { cause })
  }
}

async function listFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)).split(path.sep).join('/'))
    .filter((name) => !/^(\.waypost|node_modules)\//.test(name)) // files that running a template in place creates
}
