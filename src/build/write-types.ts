import { access, constants, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { makeId } from '../kit/index.ts'

/**
 * `replaced`: there were types of another state of the project, for example of another branch. `unwritable`: the types
 * cannot be compared or differ, but the folder is read-only, as in a container.
 */
export type WrittenTypes = 'written' | 'replaced' | 'unchanged' | 'unwritable'

/** Writes `.waypost/types.d.ts` of a project if it changed, because editors recheck everything after a write. */
export function writeTypes(root: string, text: string): Promise<WrittenTypes> {
  return writeGenerated(root, 'types.d.ts', text)
}

/** Writes a file of `.waypost` if it changed. The write is atomic. */
export async function writeGenerated(root: string, name: string, text: string): Promise<WrittenTypes> {
  const file = path.join(root, '.waypost', name)
  const temporary = `${file}.${makeId('')}`
  try {
    const before = await loadText(file)
    if (before === text) return 'unchanged'
    await mkdir(path.dirname(file), { recursive: true })
    await writeFile(temporary, text)
    await rename(temporary, file)
    return before === undefined ? 'written' : 'replaced'
  } catch (error) {
    if (await isReadOnly(root, error)) return 'unwritable'
    await rm(temporary, { force: true })
    throw error
  }
}

/** A recursive `mkdir` in a read-only folder fails with ENOENT. */
async function isReadOnly(root: string, error: unknown): Promise<boolean> {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'EROFS' || code === 'EACCES' || code === 'EPERM') return true
  return (
    code === 'ENOENT' &&
    !(await access(root, constants.W_OK).then(
      () => true,
      () => false,
    ))
  )
}

async function loadText(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
