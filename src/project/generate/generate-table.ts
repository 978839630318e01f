import { kindsOfConnections, loadTables, openMigrationFiles } from '../../build/index.ts'
import { openEditing } from '../../definition/index.ts'
import { hasErrors, nearest, type Diagnostic } from '../../kit/index.ts'
import { designTable } from '../../tables/index.ts'
import { errors } from '../errors.ts'
import { findProject, type Project } from '../find-project.ts'
import { assertDefinition, loadProject } from '../load-project.ts'
import { validateProject } from '../validate.ts'
import { planTable, type TablePlan } from './plan-table.ts'
import type { TableRequest } from './table-request.ts'
import { waitUntilServed } from './wait-until-served.ts'
import { findChanges, locateAdded, readTexts, writeFiles, type FileChange } from './write-files.ts'

export interface GenerateTableOptions extends TableRequest {
  readonly folder: string
  /** Plan and check everything, but write nothing. */
  readonly dryRun: boolean
  onDiagnostics?(diagnostics: readonly Diagnostic[]): void
}

export interface GeneratedTable extends Pick<TablePlan, 'action' | 'scopes' | 'methods'> {
  /** New files, relative to the folder. */
  readonly created: readonly string[]
  /** New entries in definition files. */
  readonly added: readonly { readonly name: string; readonly file: string; readonly line: number }[]
  /** The URL of the list if a running `dev` of the folder already serves it. */
  readonly servedAt?: string
}

/**
 * Makes a table an API: writes an action of the class `sql-table` and its routes into the definition, all or nothing.
 * Needs no database: the columns are those of `tables.json` and of declared migrations.
 * @throws WP_PROJECT_BROKEN, WP_PROJECT_GENERATE, WP_PROJECT_WRITE
 */
export async function generateTable(options: GenerateTableOptions): Promise<GeneratedTable> {
  const project = findProject(options.folder)
  const report = (diagnostics: readonly Diagnostic[]) => options.onDiagnostics?.(diagnostics)
  const { plan, changes } = await planTableFiles(project, options, report)
  const generated = describe(project, plan, changes)
  if (options.dryRun) return generated
  await writeFiles(project.root, changes)
  await validateProject(project.root)
  const servedAt = await waitUntilServed(project.root, plan.methods[0]!)
  return servedAt === undefined ? generated : { ...generated, servedAt }
}

/**
 * Plans the files that make a table an API, and checks that the project has no errors with them.
 * @throws WP_PROJECT_BROKEN, WP_PROJECT_GENERATE, WP_DEFINITION_EDIT_REFUSED
 */
export async function planTableFiles(
  project: Project,
  request: TableRequest,
  report: (diagnostics: readonly Diagnostic[]) => void,
): Promise<{ readonly plan: TablePlan; readonly changes: readonly FileChange[] }> {
  const { connection, table } = request
  const loaded = await loadProject(project)
  const definition = assertDefinition(loaded, report)
  const kinds = kindsOfConnections(definition, loaded.plugins)
  if (!Object.hasOwn(kinds, connection)) {
    const guess = nearest(connection, Object.keys(kinds))
    const hint = guess === undefined ? `Connections: ${Object.keys(kinds).join(', ')}.` : `Did you mean "${guess}"?`
    throw errors.WP_PROJECT_GENERATE({ problem: `Connection "${connection}" is not defined in waypost.yml`, hint })
  }
  const files = await openMigrationFiles(project.root)
  const { tables, diagnostics } = loadTables(files, kinds)
  const stale = diagnostics.filter(({ file }) => file.startsWith(`migrations/${connection}/`))
  if (hasErrors(stale)) {
    report(stale)
    throw errors.WP_PROJECT_BROKEN({ count: '1 error' })
  }
  const before = await readTexts(project, loaded.files)
  const snapshot = tables[connection]
  const known = snapshot && Object.hasOwn(snapshot.tables, table) ? snapshot.tables[table] : undefined
  const migrations = files.migrations.filter((one) => one.connection === connection)
  const steps = migrations.flatMap(({ declared }) => declared?.steps ?? [])
  const plan = planTable(openEditing(project.root, { texts: before }), request, {
    snapshot,
    ...(known && { columns: designTable(table, known, steps).columns.map(({ name }) => name) }),
  })
  const changes = findChanges(project, before, plan.texts)
  // Once each, and without those that the project has already.
  const existing = new Set(loaded.diagnostics.map(({ message }) => message))
  await assertFits(project, plan, (found) => {
    const fresh = found.filter(({ message }) => !existing.has(message))
    report([...new Map(fresh.map((one) => [`${one.message} ${one.hint}`, one])).values()])
  })
  return { plan, changes }
}

/** Loads the project with the planned changes, so that problems are found before anything is written. */
async function assertFits(
  project: Project,
  { texts, action }: TablePlan,
  report: (diagnostics: readonly Diagnostic[]) => void,
): Promise<void> {
  const { definition, diagnostics } = await loadProject(project, { texts })
  report(diagnostics.filter(({ severity }) => severity === 'warning'))
  if (definition !== undefined) return
  const { message, hint } = diagnostics.find(({ severity }) => severity === 'error')!
  throw errors.WP_PROJECT_GENERATE({ problem: `${action}: ${message}`, hint: hint ?? 'Nothing was written.' })
}

function describe({ root }: Project, plan: TablePlan, changes: readonly FileChange[]): GeneratedTable {
  const { action, scopes, methods } = plan
  const created = changes.flatMap(({ file, before }) => (before === undefined ? [file] : []))
  return { action, scopes, methods, created, added: locateAdded(root, plan) }
}
