import path from 'node:path'
import type { TablesSnapshot, DatabaseKind } from '../contract/index.ts'
import type { DeclaredMigration } from '../definition/index.ts'
import { hasErrors, type Diagnostic } from '../kit/index.ts'
import type { ManifestPlugin } from '../release/index.ts'
import { applySteps, isCovered, orderColumns, parseSnapshot, revertSteps, type Snapshot } from '../tables/index.ts'
import type { CompletedTables, MigrationFiles, MigrationSource } from './load-migrations.ts'
import { makeDiagnostic, makePlace } from './make-diagnostic.ts'

/** The database of each connection that may have migrations; undefined if it may be either. */
export type ConnectionKinds = Readonly<Record<string, DatabaseKind | undefined>>

/** Returns the connections of a definition or release with their databases, which their classes declare. */
export function kindsOfConnections(
  { connections }: { readonly connections: Readonly<Record<string, { readonly class: string }>> },
  plugins: readonly Pick<ManifestPlugin, 'catalog'>[],
): ConnectionKinds {
  const classes = Object.assign({}, ...plugins.map(({ catalog }) => catalog.connections)) as Readonly<
    Record<string, { readonly migrations?: DatabaseKind } | undefined>
  >
  const kindOf = (name: string) => (name === 'sqlite' || name === 'postgresql' ? name : classes[name]?.migrations)
  const kinds = Object.entries(connections).map(([name, use]) => [name, kindOf(use.class)])
  return { ...Object.fromEntries(kinds), System: undefined }
}

export interface LoadedTables {
  /** By connection; empty for one without tables. */
  readonly tables: Readonly<Record<string, TablesSnapshot>>
  /** Problems of `tables.json`. Those of declared migrations are reported by the build. */
  readonly diagnostics: readonly Diagnostic[]
  /** The files that were read or are missing, relative to the root. */
  readonly files: readonly string[]
}

/**
 * Returns the tables of each connection after all migrations of a project: those of `tables.json`, changed by the
 * declared migrations that it does not cover. Needs no database.
 */
export function loadTables(files: MigrationFiles, connections: ConnectionKinds): LoadedTables {
  const loaded = completeAll(files, connections)
  return {
    tables: Object.fromEntries(loaded.map(({ connection, tables }) => [connection, tables])),
    diagnostics: loaded.flatMap(({ diagnostics }) => diagnostics),
    files: loaded.flatMap(({ files }) => files),
  }
}

/** The tables as a migration finds them, to plan or amend it. */
export interface TablesBefore {
  readonly tables: TablesSnapshot
  /** The migration that is amended; undefined for a new one. */
  readonly migration: MigrationSource | undefined
  /** The migrations before it. */
  readonly earlier: readonly MigrationSource[]
  readonly diagnostics: readonly Diagnostic[]
}

/**
 * Returns the tables of a connection before its last migration, if that one is amended; otherwise after all.
 * @param isAmended decides for the last migration if it is a declared one without errors
 */
export async function loadTablesBefore(
  files: MigrationFiles,
  { connection, kind }: { readonly connection: string; readonly kind: DatabaseKind | undefined },
  isAmended: (last: MigrationSource & { readonly declared: DeclaredMigration }) => Promise<boolean>,
): Promise<TablesBefore> {
  const [found] = loadSnapshots(files, { [connection]: kind })
  const last = found!.migrations.at(-1)
  const declared = last?.declared
  const isChosen =
    declared !== undefined && !hasErrors(declared.diagnostics) && (await isAmended({ ...last!, declared }))
  if (!isChosen) return { ...completeSnapshot(found!), migration: undefined, earlier: found!.migrations }
  const earlier = found!.migrations.slice(0, -1)
  const { migrations: covered = {} } = found!.snapshot ?? {}
  if (!Object.hasOwn(covered, last!.name))
    return { ...completeSnapshot({ ...found!, migrations: earlier }), migration: last, earlier }
  const { tables, diagnostics } = completeSnapshot(found!)
  const reverted = revertSteps(declared.steps)
  const before = 'steps' in reverted ? applySteps(tables, reverted.steps, { isPartial: true }).tables : tables
  return { tables: before, migration: last, earlier, diagnostics }
}

/** Checks the steps of declared migrations against the tables before them. */
export function checkSteps(files: MigrationFiles, connections: ConnectionKinds): readonly Diagnostic[] {
  if (files.migrations.every(({ declared }) => declared === undefined)) return []
  return completeAll(files, connections).flatMap(({ stepDiagnostics }) => stepDiagnostics)
}

function completeAll(files: MigrationFiles, connections: ConnectionKinds): readonly CompletedTables[] {
  const key = JSON.stringify(Object.entries(connections))
  const completed = files.loaded?.get(key) ?? loadSnapshots(files, connections).map(completeSnapshot)
  files.loaded?.set(key, completed)
  return completed
}

interface ConnectionTables {
  readonly connection: string
  readonly kind: DatabaseKind | undefined
  readonly migrations: readonly MigrationSource[]
  /** The path of `tables.json`. */
  readonly file: string
  /** Its content; undefined if it does not exist or is invalid. */
  readonly snapshot: Snapshot | undefined
  readonly problem?: Diagnostic
}

function loadSnapshots(
  { migrations: all, read }: MigrationFiles,
  connections: ConnectionKinds,
): readonly ConnectionTables[] {
  return Object.entries(connections).map(([connection, kind]) => {
    const file = path.posix.join('migrations', connection, 'tables.json')
    const migrations = all.filter((one) => one.connection === connection)
    const base = { connection, kind, migrations, file, snapshot: undefined }
    const found = read(file)
    if ('problem' in found) {
      if (found.problem === 'missing') return base
      const reason = found.problem === 'refused' ? found.reason : 'it is outside the project'
      return { ...base, problem: reportFile(file, reason) }
    }
    const parsed = parseSnapshot(found.text)
    return 'problem' in parsed
      ? { ...base, problem: reportFile(file, parsed.problem, parsed.line) }
      : { ...base, snapshot: parsed }
  })
}

function reportFile(file: string, reason: string, line = 1): Diagnostic {
  return makeDiagnostic('WP_BUILD_TABLES_FILE', makePlace(file, line), { parameters: { file, reason } })
}

function completeSnapshot({
  connection,
  kind,
  migrations,
  file,
  snapshot,
  problem,
}: ConnectionTables): CompletedTables {
  const covered = snapshot?.migrations ?? {}
  const rest = migrations.filter(({ name }) => !Object.hasOwn(covered, name))
  const diagnostics = problem ? [problem] : findStale({ file, migrations, covered, rest })
  const isPartial = diagnostics.length > 0
  const stepDiagnostics: Diagnostic[] = []
  let tables: TablesSnapshot = { tables: snapshot?.tables ?? {} }
  for (const { name, checksum, declared } of migrations) {
    if (declared === undefined || (Object.hasOwn(covered, name) && isCovered(covered[name]!, { checksum }))) continue
    const applied = applySteps(tables, declared.steps, { kind, isPartial })
    tables = applied.tables
    for (const { step, path: at, message, hint } of applied.problems) {
      const place = declared.locate(step, at)
      stepDiagnostics.push(makeDiagnostic('WP_BUILD_MIGRATION_STEP', place, { parameters: { problem: message }, hint }))
    }
  }
  tables = orderColumns(
    tables,
    migrations.flatMap(({ declared }) => declared?.steps ?? []),
  )
  const files = [file, ...migrations.flatMap((one) => (one.declared === undefined ? [] : one.file))]
  return { connection, tables, diagnostics, stepDiagnostics, files }
}

interface Coverage {
  readonly file: string
  readonly migrations: readonly MigrationSource[]
  readonly covered: Snapshot['migrations']
  /** The migrations that are not covered. */
  readonly rest: readonly MigrationSource[]
}

/** Reports at most one problem, since `migrate` solves all of them. */
function findStale({ file, migrations, covered, rest }: Coverage): readonly Diagnostic[] {
  const uncovered = rest.find(({ declared }) => declared === undefined)
  if (uncovered !== undefined) {
    const parameters = { file, migration: uncovered.file }
    return [makeDiagnostic('WP_BUILD_TABLES_UNCOVERED', makePlace(uncovered.file, 1), { parameters })]
  }
  const byName = new Map(migrations.map((one) => [one.name, one]))
  for (const [name, checksum] of Object.entries(covered)) {
    const migration = byName.get(name)
    if (migration === undefined) return [reportFile(file, `it covers the migration "${name}", which does not exist`)]
    if (!isCovered(checksum, migration)) {
      const parameters = { file, migration: migration.file }
      return [makeDiagnostic('WP_BUILD_TABLES_EDITED', makePlace(migration.file, 1), { parameters })]
    }
  }
  return []
}
