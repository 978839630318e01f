import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { makeId } from '../kit/index.ts'

/**
 * Writes `.waypost/types.d.ts` of a project if it changed, because editors recheck everything after a write. The write
 * is atomic. Returns whether it was written.
 */
export async function writeTypes(root: string, text: string): Promise<boolean> {
  const file = path.join(root, '.waypost', 'types.d.ts')
  if ((await loadText(file)) === text) return false
  await mkdir(path.dirname(file), { recursive: true })
  const temporary = `${file}.${makeId('')}`
  try {
    await writeFile(temporary, text)
    await rename(temporary, file)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
  return true
}

async function loadText(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
