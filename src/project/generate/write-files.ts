import { mkdir, readFile, realpath, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { makeId, messageOf } from '../../kit/index.ts'
import { errors } from '../errors.ts'

/** The planned content of a project file. */
export interface FileChange {
  /** Relative to the root, with forward slashes. */
  readonly file: string
  readonly text: string
  /** Its expected current content; undefined if it must not exist. */
  readonly before: string | undefined
}

/**
 * Writes all files in order, or none: if one fails, the previous ones are restored.
 * @throws WP_PROJECT_WRITE
 */
export async function writeFiles(root: string, changes: readonly FileChange[]): Promise<void> {
  const undo: (() => Promise<unknown>)[] = []
  for (const change of changes) {
    try {
      await writeOne(root, change, undo)
    } catch (cause) {
      for (const step of undo.toReversed()) await step().catch(() => undefined)
      throw errors.WP_PROJECT_WRITE({ file: change.file, reason: messageOf(cause) }, { cause })
    }
  }
}

type Undo = (() => Promise<unknown>)[]

async function writeOne(root: string, { file, text, before }: FileChange, undo: Undo): Promise<void> {
  const full = path.join(root, file)
  if (before === undefined) {
    await makeFolder(root, path.dirname(full), undo)
    await writeFile(full, text, { flag: 'wx' })
    undo.push(() => rm(full))
    return
  }
  const real = await realpath(full)
  if ((await readFile(real, 'utf8')) !== before) throw new Error('another process is changing it')
  await replace(real, text)
  undo.push(() => replace(real, before))
}

/** Writes atomically, so that readers such as `dev` never see partial content. */
async function replace(file: string, text: string): Promise<void> {
  const draft = path.join(path.dirname(file), `.${makeId('')}`)
  try {
    await writeFile(draft, text, { flag: 'wx', mode: (await stat(file)).mode })
    await rename(draft, file)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}

async function makeFolder(root: string, folder: string, undo: Undo): Promise<void> {
  const missing: string[] = []
  let existing = folder
  while (!(await stat(existing).catch(() => undefined))?.isDirectory() && existing !== root) {
    missing.unshift(existing)
    existing = path.dirname(existing)
  }
  const relative = path.relative(await realpath(root), await realpath(existing))
  if (relative.startsWith('..') || path.isAbsolute(relative)) throw new Error('its folder is outside the project')
  for (const one of missing) {
    await mkdir(one)
    undo.push(() => rmdir(one))
  }
}
