import { existsSync } from 'node:fs'
import { mkdir, readFile, realpath, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { findKey, openEditing, type Texts } from '../../definition/index.ts'
import { makeId, messageOf } from '../../kit/index.ts'
import { errors } from '../errors.ts'
import type { Project } from '../find-project.ts'

/** The planned content of a project file. */
export interface FileChange {
  /** Relative to the root, with forward slashes. */
  readonly file: string
  readonly text: string
  /** Its expected current content; undefined if it must not exist. */
  readonly before: string | undefined
}

/** Reads each file once, so that planning, checking and the comparison before writing use the same state. */
export async function readTexts({ root }: Project, files: readonly string[]): Promise<Texts> {
  const sources = files.filter((file) => /\.(ya?ml|json)$/.test(file) && !file.startsWith('migrations/'))
  return new Map(
    await Promise.all(sources.map(async (file) => [file, await readFile(path.join(root, file), 'utf8')] as const)),
  )
}

/** Referenced files come first, so that `dev` never finds a reference to a missing file. */
export function findChanges({ root }: Project, before: Texts, after: Texts): readonly FileChange[] {
  const changes = [...after].map(([file, text]) => ({ file, text, before: before.get(file) }))
  const conflict = changes.find((change) => change.before === undefined && existsSync(path.join(root, change.file)))
  if (conflict !== undefined) {
    const hint = 'Rename it, or write the entry by hand.'
    throw errors.WP_PROJECT_GENERATE({ problem: `${conflict.file} already exists`, hint })
  }
  const rank = (change: FileChange): number => (change.before === undefined ? 0 : change.file === 'waypost.yml' ? 2 : 1)
  return changes.filter((change) => change.text !== change.before).toSorted((a, b) => rank(a) - rank(b))
}

/** Returns where new keys of waypost.yml are. */
export function locateAdded(
  root: string,
  { texts, added }: { readonly texts: Texts; readonly added: readonly { name: string; keys: readonly string[] }[] },
): readonly { readonly name: string; readonly file: string; readonly line: number }[] {
  const editing = openEditing(root, { texts })
  return added.flatMap(({ name, keys }) => {
    const at = findKey(editing, keys)
    return at === undefined ? [] : [{ name, file: at.file, line: at.line }]
  })
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
