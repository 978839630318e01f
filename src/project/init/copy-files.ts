import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'

export interface CopyOptions {
  /** A folder of `templates/`. */
  readonly source: string
  readonly folder: string
  /** Makes the text of a file that is written to `target`. */
  fill(target: string, text: string): string
}

export interface Copied {
  /** Files that were written, relative to the folder. */
  readonly files: readonly string[]
  /** Files that were there, and are as they were. */
  readonly left: readonly string[]
}

/** Copies the files of a template into a folder; one that is there is never touched. */
export async function copyFiles({ source, folder, fill }: CopyOptions): Promise<Copied> {
  const files: string[] = []
  const left: string[] = []
  for (const name of await listFiles(source)) {
    const target = name.replaceAll(/(^|\/)__/g, '$1.') // npm leaves some dot files out of packages
    const text = fill(target, await readFile(path.join(source, name), 'utf8'))
    if (await writeNew(path.join(folder, target), text)) files.push(target)
    else left.push(target)
  }
  return { files: files.sort(), left: left.sort() }
}

/** @returns false where something stands there, a link that leads nowhere included */
async function writeNew(file: string, text: string): Promise<boolean> {
  await mkdir(path.dirname(file), { recursive: true })
  try {
    await writeFile(file, text, { flag: 'wx' })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

async function listFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)).split(path.sep).join('/'))
    .filter((name) => !/^(\.waypost|node_modules)\//.test(name)) // what running a template in its place leaves
}
