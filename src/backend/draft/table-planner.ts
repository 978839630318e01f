import {
  loadTablesBefore,
  type ConnectionKinds,
  type MigrationFiles,
  type MigrationSource,
  type TableRequest,
} from '../../build/index.ts'
import type { TableSnapshot, TablesSnapshot, DatabaseKind } from '../../contract/index.ts'
import { parseMigration, writeMigration, type AddedColumn, type NewValues } from '../../definition/index.ts'
import type { Clock } from '../../kit/index.ts'
import {
  amendSteps,
  applySteps,
  describeBreaking,
  describeLosses,
  designTable,
  nameMigration,
  writeStep,
  type DesignProblem,
  type Step,
} from '../../tables/index.ts'
import { describeColumn, needsValue } from './describe-column.ts'
import type { FileChange } from './file-change.ts'
import type { DesignedTable, DesignRequest, DraftTables, PlannedMigration, PlannedTableApi } from './draft-tables.ts'

/** What the planner of tables uses of its draft. */
export interface TableSources {
  readonly clock: Pick<Clock, 'now'>
  /** The connections that can have migrations. */
  kinds(): Promise<ConnectionKinds>
  openMigrations(): Promise<MigrationFiles>
  /** Returns the text of a definition file. */
  readText(file: string): Promise<string>
  /** Returns the names of migrations that ran, also of those that the draft lacks. */
  listRan(connection: string): Promise<readonly string[]>
  /**
   * Says whether a migration may be amended: because it did not run, or because it would be redone.
   * @param checksum of its text; a server says that it did not run if only another text did
   */
  findState(connection: string, name: string, checksum?: string): Promise<'pending' | 'redo' | 'applied'>
  /** Returns the code that mentions columns of a table, or the table itself. */
  findCode(table: string, columns: readonly (string | undefined)[]): PlannedMigration['code']
  planApi(request: TableRequest): Promise<PlannedTableApi>
}

/** Plans changes of the tables of a draft. */
export class TablePlanner implements DraftTables {
  readonly #sources: TableSources

  constructor(sources: TableSources) {
    this.#sources = sources
  }

  connections(): Promise<ConnectionKinds> {
    return this.#sources.kinds()
  }

  async load(connection: string, name: string): Promise<DesignedTable | undefined> {
    const before = await this.#before(connection)
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
    const before = await this.#before(connection)
    const { steps, problems, tables } = amendSteps(before, { table, design }, { kind: before.kind })
    const existing = findColumns(before, table)
    const columns = Object.keys(existing)
    const was = listRenames(design)
    const file = before.migration?.file ?? this.#nameFile(connection, { table, name: design?.name, used: before.names })
    const current = before.migration && (await this.#sources.readText(file))
    const text = steps.length === 0 ? undefined : keepHead(current) + writeMigration(steps)
    const hasChanges =
      text !== current && (text === undefined || JSON.stringify(steps) !== JSON.stringify(before.steps))
    const renamed = new Map(was.filter(([from, to]) => from !== to && columns.includes(from)))
    const dropped = design === undefined ? [] : columns.filter((name) => was.every(([from]) => from !== name))
    const announced = describeBreaking(before.steps)
    const added = table === undefined ? [] : listAdded(existing, new Map(was), tables.tables[design?.name ?? ''])
    const gone = design === undefined ? [undefined] : [...renamed.keys(), ...dropped]
    return {
      change: hasChanges ? { file, before: current, text } : undefined,
      renamed,
      dropped,
      added,
      values: listNewValues(existing, was, tables.tables[design?.name ?? '']),
      known: (design?.columns ?? []).map(({ name }) => name).filter((name) => added.every((one) => one.name !== name)),
      code: table === undefined ? [] : this.#sources.findCode(table, gone),
      tables,
      sql: { sqlite: writeSql(steps, 'sqlite'), postgresql: writeSql(steps, 'postgresql') },
      // Losses and breaking changes of earlier steps were shown when they were saved.
      breaking: describeBreaking(steps).filter((one) => !announced.includes(one)),
      losses: describeLosses(steps),
      problems: problems.length > 0 ? problems : [...before.problems, ...checkText(file, text)],
    }
  }

  async planApi(request: TableRequest): Promise<PlannedTableApi> {
    const { warnings, ...plan } = await this.#sources.planApi(request)
    const others = warnings.filter(({ hint }) => plan.index === undefined || hint?.startsWith('Add an index') !== true)
    return { ...plan, warnings: others }
  }

  async loadAfter(changes: readonly FileChange[]): Promise<Readonly<Record<string, TablesSnapshot>>> {
    const loaded: Record<string, TablesSnapshot> = {}
    const [files, kinds] = [await this.#sources.openMigrations(), await this.#sources.kinds()]
    for (const { file, text = '' } of changes) {
      const { connection = '' } = parseMigrationPath(file)
      if (!Object.hasOwn(kinds, connection)) continue
      const kind = kinds[connection]
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
    if (checksums[0] === checksums[1] || !Object.hasOwn(await this.#sources.kinds(), connection)) return false
    return (await this.#sources.findState(connection, name!, checksums[0])) === 'applied'
  }

  /** A migration that did not run, or would be redone, is amended: the tables of a draft share it. */
  async #before(connection: string) {
    const kind = (await this.#sources.kinds())[connection]
    const files = await this.#sources.openMigrations()
    const found = await loadTablesBefore(
      files,
      { connection, kind },
      async ({ name }) => (await this.#sources.findState(connection, name)) !== 'applied',
    )
    const [stale] = found.diagnostics
    const problems: DesignProblem[] = stale ? [{ pointer: '', message: stale.message, hint: stale.hint }] : []
    return {
      kind,
      names: [
        ...files.migrations.filter((one) => one.connection === connection).map(({ name }) => name),
        ...(await this.#sources.listRan(connection)),
      ],
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
      used,
    }: { readonly table: string | undefined; readonly name: string | undefined; readonly used: readonly string[] },
  ): string {
    const verb = table === undefined ? 'create' : name === undefined ? 'drop' : 'change'
    const words = (name ?? table ?? '')
      .toLowerCase()
      .replaceAll(/[^a-z\d]+/g, '-')
      .replaceAll(/^-|-$/g, '')
    const now = new Date(this.#sources.clock.now())
    return `migrations/${connection}/${nameMigration(used, `${verb}-${words || 'table'}`, now)}.yml`
  }
}

function findColumns(
  { tables, steps }: { readonly tables: TablesSnapshot; readonly steps: readonly Step[] },
  table = '',
): TableSnapshot['columns'] {
  const now = applySteps(tables, steps, { isPartial: true }).tables.tables
  return Object.hasOwn(now, table) ? now[table]!.columns : {}
}

/** @param was the name of each column by that before */
function listAdded(
  before: TableSnapshot['columns'],
  was: ReadonlyMap<string, string>,
  table: TableSnapshot | undefined,
): readonly AddedColumn[] {
  const origins = new Map([...was].map(([from, to]) => [to, from]))
  return Object.entries(table?.columns ?? {}).flatMap(([name, column]) => {
    const origin = origins.get(name) ?? ''
    const old = Object.hasOwn(before, origin) ? before[origin] : undefined
    const isRequired = needsValue(column)
    if (old !== undefined && (!isRequired || needsValue(old))) return []
    return [{ name, schema: describeColumn(column), isAlwaysSet: column.null !== true, isRequired }]
  })
}

function listNewValues(
  before: TableSnapshot['columns'],
  was: ReturnType<typeof listRenames>,
  table: TableSnapshot | undefined,
): readonly NewValues[] {
  return was.flatMap(([from, to]) => {
    const values = table?.columns[to]?.values ?? []
    const old = Object.hasOwn(before, from) ? (before[from]!.values ?? []) : []
    const added = values.filter((one) => !old.includes(one))
    return old.length === 0 || added.length === 0 ? [] : [{ column: to, before: old, added }]
  })
}

export function parseMigrationPath(file: string): { readonly connection?: string; readonly name?: string } {
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

/** The columns that a design keeps, by their names before and after. */
function listRenames(design: DesignRequest['design']): readonly (readonly [from: string, to: string])[] {
  return (design?.columns ?? []).flatMap(({ was, name }) => (was === undefined ? [] : [[was, name] as const]))
}

function checkText(file: string, text: string | undefined): readonly DesignProblem[] {
  if (text === undefined) return []
  return parseMigration(file, text).diagnostics.map(({ message, hint }) => ({ pointer: '', message, hint }))
}
