import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { ColumnSnapshot, TablesSnapshot } from '../contract/index.ts'
import type { ConnectionDatabase } from '../store/index.ts'
import type { Diagnostic } from '../kit/index.ts'
import { loadSnapshot, writeTables } from '../store/index.ts'
import { parseSnapshot, writeSnapshot } from '../tables/index.ts'
import type { ChosenForm } from './chosen-form.ts'
import { diagnoseFile } from './definition-files.ts'
import { errors } from './errors.ts'

export interface TablesOf {
  readonly folder: string
  readonly name: string
  readonly database: ConnectionDatabase
  /** The forms of new times in columns of which rows disagree, in addition to those in `tables.json`. */
  readonly forms?: readonly ChosenForm[] | undefined
  /** Called with a warning for each table or view that cannot be read and is left out, and each column without a form. */
  onDiagnostics?: ((diagnostics: readonly Diagnostic[]) => void) | undefined
}

/**
 * Writes the types and the snapshot of a connection's tables.
 * @returns the files that changed
 * @throws WP_PROJECT_FORM_COLUMN
 */
export async function writeTablesOf(options: TablesOf): Promise<readonly string[]> {
  const { folder, name, database, forms = [], onDiagnostics } = options
  const { db, kind } = database
  const warnings: Diagnostic[] = []
  const place = `migrations/${name}/tables.json`
  const warn = (error: Parameters<typeof diagnoseFile>[1]) => warnings.push(diagnoseFile(place, error, 'warning'))
  const before = await readTables(path.join(folder, place))
  const snapshot = await loadSnapshot(
    db,
    kind,
    ({ name: table, reason }) => warn(errors.WP_PROJECT_TABLE_UNREADABLE({ table, reason })),
    (table, column) =>
      forms.findLast((one) => one.column === `${table}.${column}`)?.form ?? findColumn(before, table, column)?.written,
  )
  const mixed = listMixed(snapshot)
  for (const { column } of forms)
    if (!mixed.has(column)) throw errors.WP_PROJECT_FORM_COLUMN({ column, connection: name })
  for (const [column, { written }] of mixed)
    if (written === undefined) warn(errors.WP_PROJECT_FORM_MISSING({ column, connection: name }))
  const texts = {
    'tables.ts': await writeTables(db, kind, declaresTypes(folder, name)),
    'tables.json': writeSnapshot(snapshot, Object.keys(snapshot.migrations).length > 0 ? 'name' : 'database'),
  }
  if (warnings.length > 0) onDiagnostics?.(warnings)
  const written: string[] = []
  for (const [base, text] of Object.entries(texts)) {
    const file = path.join('migrations', name, base)
    if (await writeIfChanged(path.join(folder, file), text)) written.push(file)
  }
  return written
}

/** Whether the developer declares the types of JSON columns of a connection. */
export function declaresTypes(folder: string, connection: string): boolean {
  return existsSync(path.join(folder, 'migrations', connection, 'types.ts'))
}

async function readTables(file: string): Promise<TablesSnapshot> {
  const text = await readFile(file, 'utf8').catch(() => undefined)
  const found = text === undefined ? undefined : parseSnapshot(text)
  return found === undefined || 'problem' in found ? { tables: {} } : found
}

/** A table of another program may have any name, such as `constructor`. */
function findColumn({ tables }: TablesSnapshot, table: string, column: string): ColumnSnapshot | undefined {
  const columns = Object.hasOwn(tables, table) ? tables[table]!.columns : {}
  return Object.hasOwn(columns, column) ? columns[column] : undefined
}

/** Returns the columns of times of which rows disagree, by `TABLE.COLUMN`. */
function listMixed({ tables }: TablesSnapshot): ReadonlyMap<string, ColumnSnapshot> {
  const all = Object.entries(tables).flatMap(([table, { columns, view }]) =>
    view ? [] : Object.entries(columns).map(([name, column]) => [`${table}.${name}`, column] as const),
  )
  return new Map(all.filter(([, { form, type }]) => form === 'mixed' && type === 'timestamp'))
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
