import { mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { ConnectionDatabase } from '../store/index.ts'
import type { Diagnostic } from '../kit/index.ts'
import { loadSnapshot, writeTables } from '../store/index.ts'
import { writeSnapshot } from '../tables/index.ts'
import { diagnoseFile } from './definition-files.ts'
import { errors } from './errors.ts'

export interface TablesOf {
  readonly folder: string
  readonly name: string
  readonly database: ConnectionDatabase
  /** Called with a warning for each table or view that cannot be read, and is left out. */
  onDiagnostics?: ((diagnostics: readonly Diagnostic[]) => void) | undefined
}

/**
 * Writes the types and the snapshot of a connection's tables.
 * @returns the files that changed
 */
export async function writeTablesOf({ folder, name, database, onDiagnostics }: TablesOf): Promise<readonly string[]> {
  const { db, kind } = database
  const warnings: Diagnostic[] = []
  const snapshot = await loadSnapshot(db, kind, ({ name: table, reason }) =>
    warnings.push(
      diagnoseFile(`migrations/${name}/tables.json`, errors.WP_PROJECT_TABLE_UNREADABLE({ table, reason }), 'warning'),
    ),
  )
  const texts = { 'tables.ts': await writeTables(db, kind), 'tables.json': writeSnapshot(snapshot) }
  if (warnings.length > 0) onDiagnostics?.(warnings)
  const written: string[] = []
  for (const [base, text] of Object.entries(texts)) {
    const file = path.join('migrations', name, base)
    if (await writeIfChanged(path.join(folder, file), text)) written.push(file)
  }
  return written
}

/** What a formatter does not change: a file that it has formatted stays as it is. */
function withoutFormat(text: string): string {
  return text.replaceAll(/[\s,;'"]/g, '')
}

async function writeIfChanged(file: string, text: string): Promise<boolean> {
  const before = await readFile(file, 'utf8').catch(() => undefined)
  if (before !== undefined && withoutFormat(before) === withoutFormat(text)) return false
  await mkdir(path.dirname(file), { recursive: true })
  await writeFile(file, text)
  return true
}
