import {
  GenerateBroken,
  GenerateRefused,
  kindsOfConnections,
  openMigrationFiles,
  planTableApi,
  type PlannedApi,
  type TablePlan,
  type TableRequest,
} from '../../build/index.ts'
import { openEditing } from '../../definition/index.ts'
import type { Diagnostic } from '../../kit/index.ts'
import { errors } from '../errors.ts'
import { findProject, type Project } from '../find-project.ts'
import { assertDefinition, loadProject } from '../load-project.ts'
import { validateProject } from '../validate.ts'
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
): Promise<{ readonly plan: Omit<PlannedApi, 'warnings'>; readonly changes: readonly FileChange[] }> {
  const loaded = await loadProject(project)
  const definition = assertDefinition(loaded, report)
  const before = await readTexts(project, loaded.files)
  try {
    const { warnings, ...plan } = await planTableApi(
      {
        editing: openEditing(project.root, { texts: before }),
        diagnostics: loaded.diagnostics,
        kinds: kindsOfConnections(
          definition,
          loaded.plugins.map(({ manifest }) => manifest),
        ),
        migrations: await openMigrationFiles(project.root),
        load: (texts) => loadProject(project, { texts }),
      },
      request,
    )
    report(warnings)
    return { plan, changes: findChanges(project, before, plan.texts) }
  } catch (error) {
    if (error instanceof GenerateRefused) throw errors.WP_PROJECT_GENERATE(error)
    if (!(error instanceof GenerateBroken)) throw error
    report(error.diagnostics)
    throw errors.WP_PROJECT_BROKEN({ count: '1 error' })
  }
}

function describe({ root }: Project, plan: TablePlan, changes: readonly FileChange[]): GeneratedTable {
  const { action, scopes, methods } = plan
  const created = changes.flatMap(({ file, before }) => (before === undefined ? [file] : []))
  return { action, scopes, methods, created, added: locateAdded(root, plan) }
}
