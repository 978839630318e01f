import { mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { ConnectionDatabase } from '../host/index.ts'
import { writeTables } from '../store/index.ts'

/**
 * Writes the types of a connection's tables.
 * @returns the file if it changed
 */
export async function writeTablesOf(
  folder: string,
  name: string,
  { db, kind }: ConnectionDatabase,
): Promise<readonly string[]> {
  const file = path.join('migrations', name, 'tables.ts')
  return (await writeIfChanged(path.join(folder, file), await writeTables(db, kind))) ? [file] : []
}

async function writeIfChanged(file: string, text: string): Promise<boolean> {
  const before = await readFile(file, 'utf8').catch(() => undefined)
  if (before === text) return false
  await mkdir(path.dirname(file), { recursive: true })
  await writeFile(file, text)
  return true
}
