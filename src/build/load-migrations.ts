import type { Stats } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import path from 'node:path'
import { openFolder, readBytesInside, type FileProblem } from '../definition/index.ts'
import { sha256 } from '../kit/index.ts'
import { compareText } from './compare-text.ts'

/** A file of `migrations/<Connection>/`. */
export interface MigrationSource {
  readonly connection: string
  /** File name without its ending. */
  readonly name: string
  /** Relative to the project's root, with forward slashes. */
  readonly file: string
  /** SHA-256 of the text with LF line ends, so that a checkout with CRLF has the same. */
  readonly checksum: string
  /** Why it was not read. */
  readonly refusal?: FileProblem
}

const maxBytes = 1024 * 1024

/** Every migration of a project, by connection and then by name. A project without the folder has none. */
export async function loadMigrations(root: string): Promise<MigrationSource[]> {
  const migrations: MigrationSource[] = []
  const project = openFolder(root)
  if (project === undefined) return []
  for (const connection of await list(path.join(root, 'migrations'))) {
    const folder = path.join(root, 'migrations', connection)
    if ((await statOf(folder))?.isDirectory() !== true) continue
    for (const entry of await list(folder)) {
      if (!entry.endsWith('.ts') || entry.endsWith('.d.ts') || entry === 'tables.ts') continue
      const there = await statOf(path.join(folder, entry))
      if (there === undefined || there.isDirectory()) continue
      const file = `migrations/${connection}/${entry}`
      const read = readBytesInside(project, file, maxBytes)
      const isRead = 'bytes' in read
      const text = isRead ? new TextDecoder().decode(read.bytes) : ''
      migrations.push({
        connection,
        name: entry.slice(0, -'.ts'.length),
        file,
        checksum: sha256(text.replaceAll('\r\n', '\n')),
        ...(isRead ? {} : { refusal: read }),
      })
    }
  }
  return migrations
}

async function list(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).filter((name) => !name.startsWith('.')).sort(compareText)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

async function statOf(file: string): Promise<Stats | undefined> {
  try {
    return await stat(file)
  } catch (error) {
    // A link to nowhere holds no migration.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
