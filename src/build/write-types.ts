import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { makeId } from '../kit/index.ts'

/**
 * Writes `.waypost/types.d.ts` of a project, only when it changes (an editor would check everything again), and so that
 * no reader ever sees half of it. Gives whether it was written.
 */
export async function writeTypes(root: string, text: string): Promise<boolean> {
  const file = path.join(root, '.waypost', 'types.d.ts')
  if ((await loadText(file)) === text) return false
  await mkdir(path.dirname(file), { recursive: true })
  const beside = `${file}.${makeId('')}`
  try {
    await writeFile(beside, text)
    await rename(beside, file)
  } catch (error) {
    await rm(beside, { force: true })
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
