import type { Stats } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import path from 'node:path'
import { openFolder, readProjectBytes, type FileProblem } from '../definition/index.ts'
import { sha256 } from '../kit/index.ts'
import { compareText } from './compare-text.ts'

/** A file of `migrations/<Connection>/`. */
export interface MigrationSource {
  readonly connection: string
  /** File name without its extension. */
  readonly name: string
  /** Relative to the project's root, with forward slashes. */
  readonly file: string
  /** SHA-256 of the text with LF line ends, so that a checkout with CRLF has the same checksum. */
  readonly checksum: string
  /** Why the file could not be read. */
  readonly fileProblem?: FileProblem
}

const maxBytes = 1024 * 1024

/** Returns all migrations of a project, by connection, then by name; none if the folder does not exist. */
export async function loadMigrations(root: string): Promise<MigrationSource[]> {
  const migrations: MigrationSource[] = []
  const project = openFolder(root)
  if (project === undefined) return []
  for (const connection of await list(path.join(root, 'migrations'))) {
    const folder = path.join(root, 'migrations', connection)
    if ((await statOf(folder))?.isDirectory() !== true) continue
    for (const entry of await list(folder)) {
      if (!entry.endsWith('.ts') || entry.endsWith('.d.ts') || entry === 'tables.ts') continue
      const stats = await statOf(path.join(folder, entry))
      if (stats === undefined || stats.isDirectory()) continue
      const file = `migrations/${connection}/${entry}`
      const read = readProjectBytes(project, file, maxBytes)
      const isRead = 'bytes' in read
      const text = isRead ? new TextDecoder().decode(read.bytes) : ''
      migrations.push({
        connection,
        name: entry.slice(0, -'.ts'.length),
        file,
        checksum: sha256(text.replaceAll('\r\n', '\n')),
        ...(isRead ? {} : { fileProblem: read }),
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
    // A broken link is not a migration.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
