import { lstatSync, mkdirSync, readdirSync, rmdirSync } from 'node:fs'
import { rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { hasEnded, identifyProcess, makeUuid, sha256 } from '../../kit/index.ts'

/** The folder of the temporary files of this process. It exists while there are some. */
let folder: string | undefined
let files = 0

/**
 * Returns the path of a new temporary file. Call `releasePath` when the file is no longer needed.
 * @throws an error of the file system
 */
export function reservePath(): string {
  folder ??= makeFolder()
  files += 1
  return path.join(folder, makeUuid())
}

export async function releasePath(file: string): Promise<void> {
  await rm(file, { force: true }).catch(() => undefined) // the next start of a server removes it
  files -= 1
  if (files > 0 || folder === undefined) return
  const empty = folder
  folder = undefined
  try {
    rmdirSync(empty)
  } catch {
    // A file in it could not be removed.
  }
}

function makeFolder(): string {
  const { place, pid, started } = identifyProcess()
  const made = path.join(openParent(), `${hashOf(place)}-${pid}-${started}-${makeUuid().slice(-8)}`)
  mkdirSync(made, { mode: 0o700 })
  return made
}

function hashOf(place: string): string {
  return sha256(place).slice(0, 12)
}

/** All processes of a user share the folder around theirs, so that one finds what another left when it was killed. */
function parentPath(): string {
  return path.join(tmpdir(), `waypost-uploads-${process.getuid?.() ?? 'user'}`)
}

/** Other users can create files in the temporary folder. */
function openParent(): string {
  const parent = parentPath()
  mkdirSync(parent, { mode: 0o700, recursive: true })
  const { uid, mode } = lstatSync(parent)
  const isOwn = process.getuid === undefined || (uid === process.getuid() && (mode & 0o077) === 0)
  if (!isOwn || !lstatSync(parent).isDirectory()) throw new Error(`${parent} belongs to another user`)
  return parent
}

/** After that time, an upload of a process that cannot be found has ended. */
const maxAgeMs = 24 * 3_600_000

/** Removes the temporary files of processes that were killed. */
export async function removeAbandonedFiles(now = Date.now()): Promise<void> {
  let names: readonly string[]
  try {
    names = readdirSync(openFound())
  } catch {
    return // there are none, or they belong to another user
  }
  for (const name of names) {
    const abandoned = path.join(parentPath(), name)
    if (abandoned === folder || !(await isAbandoned(abandoned, now))) continue
    await rm(abandoned, { recursive: true, force: true }).catch(() => undefined)
  }
}

function openFound(): string {
  lstatSync(parentPath())
  return openParent()
}

async function isAbandoned(found: string, now: number): Promise<boolean> {
  const [hash, pid, started = ''] = path.basename(found).split('-')
  const { place } = identifyProcess()
  if (hash === hashOf(place)) return hasEnded({ place, pid: Number(pid), started })
  const info = await stat(found).catch(() => undefined)
  return info !== undefined && now - info.mtimeMs > maxAgeMs
}
