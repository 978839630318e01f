import { kindsOfConnections, loadTables, openMigrationFiles } from '../build/index.ts'
import type { TableSnapshot, TablesSnapshot } from '../contract/index.ts'
import { hasErrors } from '../kit/index.ts'
import { writeMermaid } from '../tables/index.ts'
import { errors } from './errors.ts'
import { findProject } from './find-project.ts'
import type { ListOptions } from './list-routes.ts'
import { assertDefinition, loadProject } from './load-project.ts'

/** A table of a project, after all its migrations. */
export interface ProjectTable {
  readonly connection: string
  readonly name: string
  readonly table: TableSnapshot
}

/**
 * Lists the tables of a project by connection and name: those of each tables.json, changed by the migrations that it does
 * not cover. Opens no database.
 * @throws WP_PROJECT_BROKEN after reporting the diagnostics
 */
export async function listProjectTables(options: ListOptions): Promise<readonly ProjectTable[]> {
  const tables = await loadProjectTables(options)
  return Object.entries(tables).flatMap(([connection, own]) =>
    Object.entries(own.tables).map(([name, table]) => ({ connection, name, table })),
  )
}

/**
 * Draws the tables of a connection as a diagram of Mermaid.
 * @throws WP_PROJECT_BROKEN after reporting the diagnostics, WP_PROJECT_NO_TABLES
 */
export async function drawTables(options: ListOptions & { readonly connection: string }): Promise<string> {
  const { connection } = options
  const all = await loadProjectTables(options)
  const known = Object.keys(all).filter((name) => Object.keys(all[name]!.tables).length > 0)
  if (!known.includes(connection))
    throw errors.WP_PROJECT_NO_TABLES({ connection, known: known.toSorted().join(', ') || 'none' })
  return writeMermaid(all[connection]!)
}

async function loadProjectTables({
  folder,
  onDiagnostics,
}: ListOptions): Promise<Readonly<Record<string, TablesSnapshot>>> {
  const loaded = await loadProject(findProject(folder))
  const definition = assertDefinition(loaded, onDiagnostics)
  const files = await openMigrationFiles(loaded.project.root)
  const kinds = kindsOfConnections(
    definition,
    loaded.plugins.map(({ manifest }) => manifest),
  )
  const { tables, diagnostics } = loadTables(files, kinds)
  if (hasErrors(diagnostics)) onDiagnostics(diagnostics)
  return tables
}
