import type { Stats } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import path from 'node:path'
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
}

/** Every migration of a project, by connection and then by name. A project without the folder has none. */
export async function loadMigrations(root: string): Promise<MigrationSource[]> {
  const migrations: MigrationSource[] = []
  for (const connection of await list(path.join(root, 'migrations'))) {
    const folder = path.join(root, 'migrations', connection)
    if ((await statOf(folder))?.isDirectory() !== true) continue
    for (const entry of await list(folder)) {
      if (!entry.endsWith('.ts') || entry.endsWith('.d.ts') || entry === 'tables.ts') continue
      if ((await statOf(path.join(folder, entry)))?.isFile() !== true) continue
      const text = await readFile(path.join(folder, entry), 'utf8')
      migrations.push({
        connection,
        name: entry.slice(0, -'.ts'.length),
        file: `migrations/${connection}/${entry}`,
        checksum: sha256(text.replaceAll('\r\n', '\n')),
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
