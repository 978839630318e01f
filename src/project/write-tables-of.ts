import { mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { ConnectionDatabase } from '../host/index.ts'
import { loadSnapshot, writeTables } from '../store/index.ts'
import { writeSnapshot } from '../tables/index.ts'

/**
 * Writes the types and the snapshot of a connection's tables.
 * @returns the files that changed
 */
export async function writeTablesOf(
  folder: string,
  name: string,
  { db, kind }: ConnectionDatabase,
): Promise<readonly string[]> {
  const texts = {
    'tables.ts': await writeTables(db, kind),
    'tables.json': writeSnapshot(await loadSnapshot(db, kind)),
  }
  const written: string[] = []
  for (const [base, text] of Object.entries(texts)) {
    const file = path.join('migrations', name, base)
    if (await writeIfChanged(path.join(folder, file), text)) written.push(file)
  }
  return written
}

async function writeIfChanged(file: string, text: string): Promise<boolean> {
  const before = await readFile(file, 'utf8').catch(() => undefined)
  if (before === text) return false
  await mkdir(path.dirname(file), { recursive: true })
  await writeFile(file, text)
  return true
}
