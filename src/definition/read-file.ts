import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, realpathSync, statSync } from 'node:fs'
import { devNull } from 'node:os'
import path from 'node:path'
import { findEncodingProblem, type EncodingProblem } from '../kit/index.ts'

/** The project folder: the given path and its real path. */
export interface ProjectFolder {
  readonly root: string
  readonly realRoot: string
}

/** Why a file cannot be read. */
export type FileProblem =
  | { readonly problem: 'missing' }
  | { readonly problem: 'outside' }
  | { readonly problem: 'refused'; readonly reason: string; readonly hint?: string }

/** A folder without files: nothing can exist below a file. */
export const noFolder: ProjectFolder = { root: devNull, realRoot: devNull }

export const maxFileBytes = 1024 * 1024

/** Opens a project folder; undefined if it does not exist. */
export function openFolder(root: string): ProjectFolder | undefined {
  try {
    return { root: path.resolve(root), realRoot: realpathSync(root) }
  } catch {
    return undefined
  }
}

/** The text of a file, and whether a link leads to it. A watcher of the path does not see changes of a link's target. */
export interface FileText {
  readonly text: string
  readonly isLinked: boolean
}

/**
 * Reads a text file of the project. The path is relative to its root, with forward slashes.
 * @param options `keepsMark` keeps a byte order mark at its start
 */
export function readProjectFile(
  folder: ProjectFolder,
  file: string,
  { keepsMark = false }: { readonly keepsMark?: boolean } = {},
): FileText | FileProblem {
  return withFile(folder, file, ({ descriptor, real }) => {
    const bytes = readAtMost(descriptor, maxFileBytes + 1)
    if (bytes.length > maxFileBytes) return { problem: 'refused', reason: 'it is larger than 1 MB' }
    const problem = findEncodingProblem(bytes)
    if (problem !== undefined) return describeEncoding(problem)
    const text = new TextDecoder('utf-8', { ignoreBOM: keepsMark }).decode(bytes)
    return { text, isLinked: real !== path.join(folder.realRoot, file) }
  })
}

function describeEncoding({ reason, line }: EncodingProblem): FileProblem {
  return {
    problem: 'refused',
    reason,
    hint: `Save the file as UTF-8; line ${line} is the first line that is not UTF-8`,
  }
}

/** Reads a file of the project as bytes. The path is relative to its root, with forward slashes. */
export function readProjectBytes(
  folder: ProjectFolder,
  file: string,
  maxBytes: number,
): { readonly bytes: Uint8Array } | FileProblem {
  return withFile(folder, file, ({ descriptor }) => {
    const bytes = readAtMost(descriptor, maxBytes + 1)
    if (bytes.length <= maxBytes) return { bytes }
    return { problem: 'refused', reason: `it is larger than ${maxBytes / 1024 ** 2} MB` }
  })
}

/** Checks that a regular file of the project exists; undefined if it does. */
export function checkProjectFile(folder: ProjectFolder, file: string): FileProblem | undefined {
  return withFile(folder, file, () => undefined)
}

/** Whether the path is a symbolic link, valid or not. */
export function isLink(folder: ProjectFolder, file: string): boolean {
  try {
    return lstatSync(path.resolve(folder.root, file)).isSymbolicLink()
  } catch {
    return false
  }
}

interface OpenFile {
  readonly descriptor: number
  /** The real path. */
  readonly real: string
}

function withFile<Value>(
  folder: ProjectFolder,
  file: string,
  use: (opened: OpenFile) => Value | FileProblem,
): Value | FileProblem {
  const full = path.resolve(folder.root, file)
  if (!isInside(folder.root, full)) return { problem: 'outside' }
  let descriptor: number | undefined
  try {
    // Opened before it is checked, so that the checked file is the one that is read. O_NONBLOCK prevents waiting for a
    // pipe.
    descriptor = openSync(full, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
    const real = realpathSync(full)
    return checkOpened(folder, real, descriptor) ?? use({ descriptor, real })
  } catch (error) {
    return explain((error as NodeJS.ErrnoException).code)
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

function checkOpened(folder: ProjectFolder, real: string, descriptor: number): FileProblem | undefined {
  const opened = fstatSync(descriptor, { bigint: true })
  if (!isInside(folder.realRoot, real)) return { problem: 'outside' }
  const current = statSync(real, { bigint: true })
  if (current.ino !== opened.ino || current.dev !== opened.dev)
    return { problem: 'refused', reason: 'it is being replaced' }
  if (opened.isDirectory()) return { problem: 'refused', reason: 'it is a folder' }
  return opened.isFile() ? undefined : { problem: 'refused', reason: 'it is not a regular file' }
}

function isInside(folder: string, file: string): boolean {
  const relative = path.relative(folder, file)
  return relative !== '' && relative !== '..' && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative)
}

function readAtMost(descriptor: number, limit: number): Uint8Array {
  const size = Math.min(limit, Math.max(4096, fstatSync(descriptor).size + 1))
  let buffer = Buffer.allocUnsafe(size)
  let length = 0
  for (;;) {
    const count = readSync(descriptor, buffer, length, buffer.length - length, null)
    length += count
    if (count === 0 || length >= limit) return buffer.subarray(0, length)
    if (length === buffer.length) buffer = Buffer.concat([buffer], Math.min(limit, buffer.length * 2))
  }
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EISDIR: 'it is a folder',
  ELOOP: 'its symbolic links form a loop',
  EMFILE: 'too many files are open',
  ENAMETOOLONG: 'its name is too long',
  ENXIO: 'it is not a regular file',
}

function explain(code: string | undefined): FileProblem {
  if (code === 'ENOENT' || code === 'ENOTDIR') return { problem: 'missing' }
  return { problem: 'refused', reason: reasons[code ?? ''] ?? `system error ${code ?? 'without a code'}` }
}
