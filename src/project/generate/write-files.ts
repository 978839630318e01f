import { existsSync, linkSync, readFileSync, renameSync, statSync, unlinkSync, writeFileSync } from 'node:fs'
import { mkdir, readFile, realpath, rm, rmdir, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { findKey, openEditing, type Texts } from '../../definition/index.ts'
import { makeId, messageOf } from '../../kit/index.ts'
import { errors } from '../errors.ts'
import type { Project } from '../find-project.ts'

/** The planned content of a project file. */
export interface FileChange {
  /** Relative to the root, with forward slashes. */
  readonly file: string
  /** Undefined deletes the file. */
  readonly text: string | undefined
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

/** Returns the files that differ, in the order in which they are written. */
export function findChanges(
  { root }: Project,
  before: Texts,
  after: Texts,
): readonly (FileChange & { readonly text: string })[] {
  const changes = [...after].map(([file, text]) => ({ file, text, before: before.get(file) }))
  const conflict = changes.find((change) => change.before === undefined && existsSync(path.join(root, change.file)))
  if (conflict !== undefined) {
    const hint = 'Rename it, or write the entry by hand.'
    throw errors.WP_PROJECT_GENERATE({ problem: `${conflict.file} already exists`, hint })
  }
  return sortChanges(changes.filter((change) => change.text !== change.before))
}

/** Referenced files come first, so that `dev` never finds a reference to a missing file. */
export function sortChanges<Change extends FileChange>(changes: readonly Change[]): readonly Change[] {
  const rank = ({ file, text, before }: FileChange): number =>
    before === undefined ? 0 : text === undefined ? 3 : file === 'waypost.yml' ? 2 : 1
  return changes.toSorted((a, b) => rank(a) - rank(b))
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
 * Writes all files in order, or none: if one fails, the previous ones are restored. Files without a text are deleted.
 * @throws WP_PROJECT_WRITE, with `ChangedOnDisk` as its cause if another program has changed a file
 */
export async function writeFiles(root: string, changes: readonly FileChange[]): Promise<void> {
  const writing: Writing = { root, undo: [], folders: new Set() }
  for (const change of changes) {
    try {
      await writeOne(writing, change)
    } catch (cause) {
      for (const step of writing.undo.toReversed()) await step().catch(() => undefined)
      throw errors.WP_PROJECT_WRITE({ file: change.file, reason: messageOf(cause) }, { cause })
    }
  }
}

/** Another program has changed a file since it was read. */
export class ChangedOnDisk extends Error {
  constructor() {
    super('another process is changing it')
  }
}

interface Writing {
  readonly root: string
  readonly undo: (() => Promise<unknown>)[]
  /** Those that exist and are inside the project. */
  readonly folders: Set<string>
}

async function writeOne(writing: Writing, { file, text, before }: FileChange): Promise<void> {
  const { root, undo } = writing
  const full = path.join(root, file)
  if (before === undefined) {
    await makeFolder(writing, path.dirname(full))
    create(full, text!)
    undo.push(() => replace(full, text!, undefined))
    return
  }
  const real = await realpath(full).catch(() => full)
  await replace(real, before, text)
  undo.push(async () => (text === undefined ? create(real, before) : replace(real, text, before)))
}

/** Synchronous, because a thread for each of a thousand small files takes longer than writing them. */
function create(file: string, text: string): void {
  try {
    writeFileSync(file, text, { flag: 'wx' })
  } catch (error) {
    throw isCode(error, 'EEXIST') ? new ChangedOnDisk() : error
  }
}

/**
 * Replaces or deletes a file if it has the expected text. Atomic, so that readers such as `dev` never see a part of it.
 * The old file keeps a second name meanwhile: a program that has it open may write to it after it was compared.
 * @throws ChangedOnDisk
 */
async function replace(file: string, before: string, text: string | undefined): Promise<void> {
  const draft = path.join(path.dirname(file), `.${makeId('')}`)
  const old = `${draft}.old`
  try {
    if (before === '') await assertUnused(file)
    if (text !== undefined) await writeFile(draft, text, { flag: 'wx', mode: (await stat(file)).mode })
    swap({ file, draft: text === undefined ? undefined : draft, old, before })
  } catch (error) {
    throw isCode(error, 'ENOENT') ? new ChangedOnDisk() : error
  } finally {
    await rm(draft, { force: true })
    await rm(old, { force: true })
  }
}

/** How long to wait for another program that has truncated a file to save it in place. */
const emptyMs = 100

/** @throws ChangedOnDisk if another program is writing to an empty file */
async function assertUnused(file: string): Promise<void> {
  const { mtimeNs } = await stat(file, { bigint: true })
  await pause(emptyMs)
  if ((await stat(file, { bigint: true })).mtimeNs !== mtimeNs) throw new ChangedOnDisk()
}

/** Without a pause between the comparison and the change, in which another program would have time to save. */
function swap({
  file,
  draft,
  old,
  before,
}: Readonly<Record<'file' | 'old' | 'before', string>> & { readonly draft: string | undefined }) {
  const isKept = tryLink(file, old)
  const kept = isKept ? old : file
  if (readNow(kept) !== before) throw new ChangedOnDisk()
  if (isKept && statSync(file).ino !== statSync(old).ino) throw new ChangedOnDisk()
  if (draft === undefined) unlinkSync(file)
  else renameSync(draft, file)
  if (!isKept || readNow(old) === before) return
  renameSync(old, file)
  throw new ChangedOnDisk()
}

/** Reads a file as the draft does, without a byte order mark. */
function readNow(file: string): string {
  return readFileSync(file, 'utf8').replace(/^\u{FEFF}/u, '')
}

/** Some file systems have no links. */
function tryLink(file: string, name: string): boolean {
  try {
    linkSync(file, name)
    return true
  } catch (error) {
    if (isCode(error, 'ENOENT')) throw error
    return false
  }
}

function isCode(error: unknown, code: string): boolean {
  return (error as NodeJS.ErrnoException).code === code
}

async function makeFolder({ root, undo, folders }: Writing, folder: string): Promise<void> {
  if (folders.has(folder)) return
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
  folders.add(folder)
}
