import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type {
  DesignedTable,
  DesignRequest,
  DraftTables,
  FileChange,
  PlannedMigration,
  PlannedTableApi,
  TableApiRequest,
} from '../../backend/index.ts'
import { loadTablesBefore, openMigrationFiles, type MigrationSource } from '../../build/index.ts'
import type { TablesSnapshot } from '../../contract/index.ts'
import { parseMigration, writeMigration } from '../../definition/index.ts'
import type { Clock, Diagnostic } from '../../kit/index.ts'
import {
  amendSteps,
  applySteps,
  describeBreaking,
  describeLosses,
  designTable,
  writeStep,
  type DatabaseKind,
  type DesignProblem,
  type Step,
} from '../../tables/index.ts'
import { nameMigration } from '../create-migration.ts'
import type { Project } from '../find-project.ts'
import { findMentions } from './list-action-files.ts'
import { planTableFiles } from '../generate/generate-table.ts'
import type { SessionMigrations } from '../session-migrations.ts'

interface FolderTablesOptions {
  readonly project: Project
  readonly migrations: SessionMigrations
  readonly clock: Clock
}

/** Plans changes of the tables of a project in `dev`. */
export class FolderTables implements DraftTables {
  readonly #options: FolderTablesOptions

  constructor(options: FolderTablesOptions) {
    this.#options = options
  }

  connections(): Readonly<Record<string, DatabaseKind | undefined>> {
    return this.#options.migrations.kinds()
  }

  async load(connection: string, name: string): Promise<DesignedTable | undefined> {
    const before = await this.#before(connection, name)
    const { tables } = applySteps(before.tables, before.steps, { isPartial: true })
    const table = Object.hasOwn(tables.tables, name) ? tables.tables[name]! : undefined
    if (table === undefined || table.view) return undefined
    const design = designTable(name, table, [...before.earlier, ...before.steps])
    const own = before.steps.filter((step) => step.table === name)
    const added = new Set(
      own.flatMap((step) => {
        if (step.step === 'create_table') return design.columns.map((column) => column.name)
        return step.step === 'add_column' ? [lastName(step.column, own)] : []
      }),
    )
    const fixed = design.columns.map((column) => column.name).filter((column) => !added.has(column))
    return { design, amends: before.migration?.file, fixed }
  }

  async plan({ connection, table, design }: DesignRequest): Promise<PlannedMigration> {
    const { clock, project } = this.#options
    const before = await this.#before(connection, table)
    const kind = this.connections()[connection]
    const { steps, problems, tables } = amendSteps(before, { table, design }, { kind })
    const columns = listColumns(before, table)
    const was = (design?.columns ?? []).flatMap((column) =>
      column.was === undefined ? [] : [[column.was, column.name] as const],
    )
    const file = before.migration?.file ?? this.#nameFile(connection, { table, name: design?.name, now: clock.now() })
    const current = before.migration && (await readFile(path.join(project.root, file), 'utf8'))
    const text = steps.length === 0 ? undefined : keepHead(current) + writeMigration(steps)
    const hasChanges =
      text !== current && (text === undefined || JSON.stringify(steps) !== JSON.stringify(before.steps))
    const renamed = new Map(was.filter(([from, to]) => from !== to && columns.includes(from)))
    const dropped = design === undefined ? [] : columns.filter((name) => was.every(([from]) => from !== name))
    const gone = design === undefined ? [undefined] : [...renamed.keys(), ...dropped]
    return {
      change: hasChanges ? { file, before: current, text } : undefined,
      renamed,
      dropped,
      code: table === undefined ? [] : findMentions(project.root, table, gone),
      tables,
      sql: { sqlite: writeSql(steps, 'sqlite'), postgresql: writeSql(steps, 'postgresql') },
      breaking: describeBreaking(steps),
      losses: describeLosses(steps),
      problems:
        problems.length > 0 ? problems : [...before.problems, ...(text === undefined ? [] : checkText(file, text))],
    }
  }

  async planApi(request: TableApiRequest): Promise<PlannedTableApi> {
    const warnings: Diagnostic[] = []
    const { plan, changes } = await planTableFiles(this.#options.project, request, (found) => warnings.push(...found))
    const { action, methods, index } = plan
    const others = warnings.filter(({ hint }) => index === undefined || hint?.startsWith('Add an index') !== true)
    return { action, methods, changes, warnings: others, index }
  }

  async loadAfter(changes: readonly FileChange[]): Promise<Readonly<Record<string, TablesSnapshot>>> {
    const loaded: Record<string, TablesSnapshot> = {}
    const files = await openMigrationFiles(this.#options.project.root)
    for (const { file, text = '' } of changes) {
      const { connection = '' } = parseMigrationPath(file)
      if (!Object.hasOwn(this.connections(), connection)) continue
      const kind = this.connections()[connection]
      const last = { connection, kind }
      const found = await loadTablesBefore(files, last, async (one) => one.file === file)
      const isLast = found.migration !== undefined || found.earlier.every((one) => one.file < file)
      if (!isLast) continue
      loaded[connection] = applySteps(found.tables, parseMigration(file, text).steps, { kind, isPartial: true }).tables
    }
    return loaded
  }

  async isFrozen({ file, text, before }: FileChange): Promise<boolean> {
    const { connection, name } = parseMigrationPath(file)
    if (connection === undefined || before === undefined) return false
    const checksums = [before, text ?? ''].map((one) => parseMigration(file, one).checksum)
    if (checksums[0] === checksums[1] || !Object.hasOwn(this.connections(), connection)) return false
    return (await this.#options.migrations.findState(connection, name!)) === 'applied'
  }

  /** A migration that did not run is amended; one that would be redone only if it is about the same table. */
  async #before(connection: string, table: string | undefined) {
    const { project, migrations } = this.#options
    const kind = this.connections()[connection]
    const files = await openMigrationFiles(project.root)
    const found = await loadTablesBefore(files, { connection, kind }, async ({ name, declared }) => {
      const state = await migrations.findState(connection, name)
      return state === 'pending' || (state === 'redo' && declared.steps.some((step) => step.table === table))
    })
    const [stale] = found.diagnostics
    const problems: DesignProblem[] = stale ? [{ pointer: '', message: stale.message, hint: stale.hint }] : []
    return {
      tables: found.tables,
      earlier: stepsOf(found.earlier),
      steps: found.migration?.declared?.steps ?? [],
      migration: found.migration,
      problems,
    }
  }

  #nameFile(
    connection: string,
    {
      table,
      name,
      now,
    }: { readonly table: string | undefined; readonly name: string | undefined; readonly now: number },
  ): string {
    const verb = table === undefined ? 'create' : name === undefined ? 'drop' : 'change'
    const words = (name ?? table ?? '')
      .toLowerCase()
      .replaceAll(/[^a-z\d]+/g, '-')
      .replaceAll(/^-|-$/g, '')
    const folder = path.join(this.#options.project.root, 'migrations', connection)
    return `migrations/${connection}/${nameMigration(folder, `${verb}-${words || 'table'}`, new Date(now))}.yml`
  }
}

function listColumns(
  { tables, steps }: { readonly tables: TablesSnapshot; readonly steps: readonly Step[] },
  table = '',
) {
  const now = applySteps(tables, steps, { isPartial: true }).tables.tables
  return Object.hasOwn(now, table) ? Object.keys(now[table]!.columns) : []
}

function parseMigrationPath(file: string): { readonly connection?: string; readonly name?: string } {
  return { .../^migrations\/(?<connection>[^/]+)\/(?<name>[^/]+)\.yml$/.exec(file)?.groups }
}

function stepsOf(migrations: readonly MigrationSource[]): readonly Step[] {
  return migrations.flatMap(({ declared }) => declared?.steps ?? [])
}

function lastName(column: string, steps: readonly Step[]): string {
  return steps.reduce((name, step) => (step.step === 'rename_column' && step.column === name ? step.to : name), column)
}

/** The comment with which a file begins, which is not about a step. */
function keepHead(text = ''): string {
  return /^(#.*\r?\n)+(?=\r?\n|$)\r?\n?/.exec(text)?.[0] ?? ''
}

function writeSql(steps: readonly Step[], kind: DatabaseKind): readonly string[] {
  return steps.flatMap((step) => writeStep(step, kind))
}

function checkText(file: string, text: string): readonly DesignProblem[] {
  return parseMigration(file, text).diagnostics.map(({ message, hint }) => ({ pointer: '', message, hint }))
}
