import {
  isWritableMap,
  type Definition,
  type Editing,
  type Texts,
  type Writable,
  type WritableMap,
} from '../../definition/index.ts'
import { nearest, type Diagnostic } from '../../kit/index.ts'
import { designTable } from '../../tables/index.ts'
import type { MigrationFiles } from '../load-migrations.ts'
import { loadTables, type ConnectionKinds } from '../load-tables.ts'
import { assertSound, GenerateRefused } from './generate.ts'
import { listParents, type ParentTable } from './list-parents.ts'
import { planTable, type TablePlan } from './plan-table.ts'
import type { TableRequest } from './table-request.ts'

/** A definition without errors to which an API is added. */
export interface TableApiSources {
  /** Its texts. */
  readonly editing: Editing
  readonly diagnostics: readonly Diagnostic[]
  readonly kinds: ConnectionKinds
  readonly migrations: MigrationFiles
  /** Loads the definition with other texts. */
  load(
    texts: Texts,
  ): Promise<{ readonly definition?: Definition | undefined; readonly diagnostics: readonly Diagnostic[] }>
}

export interface PlannedApi extends TablePlan {
  /** Warnings that the API adds to the definition, without duplicates. */
  readonly warnings: readonly Diagnostic[]
  readonly parents: readonly ParentTable[]
}

/** Returns the schema of the row that a planned method dispatches, as its action describes it. */
async function findRowSchema(
  { texts }: TablePlan,
  event: string,
  load: TableApiSources['load'],
): Promise<WritableMap | undefined> {
  const { definition } = await load(texts)
  const methods = definition?.routes.flatMap((route) => route.methods) ?? []
  const schema = methods.find(({ dispatch }) => dispatch === event)?.responses['201']
  const value = schema as Writable | undefined
  return value !== undefined && isWritableMap(value) ? value : undefined
}

/**
 * Plans the files that make a table an API, and checks that the definition has no errors with them.
 * @throws GenerateRefused, GenerateBroken, WP_DEFINITION_EDIT_REFUSED
 */
export async function planTableApi(
  { editing, diagnostics: known, kinds, migrations: files, load }: TableApiSources,
  request: TableRequest,
): Promise<PlannedApi> {
  const { connection, table } = request
  if (!Object.hasOwn(kinds, connection)) {
    const guess = nearest(connection, Object.keys(kinds))
    const hint = guess === undefined ? `Connections: ${Object.keys(kinds).join(', ')}.` : `Did you mean "${guess}"?`
    throw new GenerateRefused({ problem: `Connection "${connection}" is not defined in waypost.yml`, hint })
  }
  const { tables, diagnostics } = loadTables(files, kinds)
  assertSound(diagnostics.filter(({ file }) => file.startsWith(`migrations/${connection}/`)))
  const snapshot = tables[connection]
  const found = snapshot && Object.hasOwn(snapshot.tables, table) ? snapshot.tables[table] : undefined
  const migrations = files.migrations.filter((one) => one.connection === connection)
  const steps = migrations.flatMap(({ declared }) => declared?.steps ?? [])
  const makePlan = (event: TableRequest['event']) =>
    planTable(
      editing,
      { ...request, event },
      {
        snapshot,
        ...(found && { columns: designTable(table, found, steps).columns.map(({ name }) => name) }),
      },
    )
  const { event } = request
  const schema = event === undefined ? undefined : await findRowSchema(makePlan(event), event.name, load)
  const plan = makePlan(event && { schema, ...event })
  const after = await load(plan.texts)
  if (after.definition === undefined) {
    const { message, hint } = after.diagnostics.find(({ severity }) => severity === 'error')!
    throw new GenerateRefused({ problem: `${plan.action}: ${message}`, hint: hint ?? 'Nothing was written.' })
  }
  const existing = new Set(known.map(({ message }) => message))
  const fresh = after.diagnostics.filter(({ severity, message }) => severity === 'warning' && !existing.has(message))
  const parents = listParents(after.definition, { connection, table, snapshot: snapshot! })
  return { ...plan, parents, warnings: [...new Map(fresh.map((one) => [`${one.message} ${one.hint}`, one])).values()] }
}
