import { CompiledQuery, sql } from 'kysely'
import type { Migration, DatabaseKind } from '../../contract/index.ts'
import {
  changeValues,
  describeBreaking,
  partsOfChange,
  revertSteps,
  rewriteColumn,
  usualNames,
  writeStep,
  type ColumnParts,
  type EnumCheck,
  type IndexNames,
  type Step,
} from '../../tables/index.ts'
import { schemaMark } from '../sql/sqlite-handle.ts'
import { databaseOf } from '../sql/column-types.ts'
import { notImplemented } from './apply-migrations.ts'
import { errors } from './errors.ts'
import { assertDefault, assertValues, loadEnumCheck, renameCheck } from './enum-values.ts'
import { loadIndexes, type Index } from './load-snapshot.ts'
import type { AnyDatabase } from './migration-table.ts'
import { runBesideSearch } from './search-steps.ts'

export interface DeclaredMigration extends Migration {
  /** Missing for a migration in TypeScript. */
  readonly steps?: readonly Step[]
  /** Why it has no `down`. */
  readonly irreversible?: string
}

/** Returns the migration that runs the steps of a declared one. */
export function makeDeclaredMigration(steps: readonly Step[]): DeclaredMigration {
  const reverted = revertSteps(steps)
  return {
    steps,
    async up(db, types) {
      if (steps.length === 0) throw new Error(notImplemented('the migration'))
      await runSteps(db, databaseOf(types), steps)
    },
    ...('reason' in reverted
      ? { irreversible: reverted.reason }
      : { down: (db, types) => runSteps(db, databaseOf(types), reverted.steps) }),
    ...(describeBreaking(steps).length > 0 && { breaking: true }),
    ...(steps.some((step) => 'concurrently' in step) && { transaction: false }),
  }
}

type AlterStep = Extract<Step, { step: 'alter_column' }>

async function runSteps(db: AnyDatabase, kind: DatabaseKind, steps: readonly Step[]): Promise<void> {
  for (const step of steps) await runBesideSearch(db, { step, kind }, () => runStep(db, kind, step))
}

async function runStep(db: AnyDatabase, kind: DatabaseKind, step: Step): Promise<void> {
  if (step.step === 'alter_column') return alterColumn(db, kind, step)
  if ('concurrently' in step && kind === 'postgresql' && (await isDone(db, step))) return
  const hasIndex = step.step === 'create_table' || step.step === 'add_index' || step.step === 'drop_index'
  const names = hasIndex ? namesIn(await loadIndexes(db, kind)) : usualNames
  for (const statement of writeStep(step, kind, names)) await db.executeQuery(CompiledQuery.raw(statement))
  if (step.step === 'rename_column' && kind === 'postgresql') await renameCheck(db, step)
}

async function alterColumn(db: AnyDatabase, kind: DatabaseKind, step: AlterStep): Promise<void> {
  const check = await loadEnumCheck(db, kind, step)
  await assertValues(db, step, check)
  if (kind === 'sqlite') await alterOnSqlite(db, step, check)
  else
    for (const statement of writeStep(step, kind, usualNames, check))
      await db.executeQuery(CompiledQuery.raw(statement))
  await assertDefault(db, kind, { ...step, values: changeValues(step.change, check) })
}

/**
 * Changes the text of a table, since SQLite has no statement for it. Stored rows are valid for both texts: no type of
 * stored values changes. A copy of the table would delete the rows that refer to it.
 */
async function alterOnSqlite(
  db: AnyDatabase,
  { table, column, change }: AlterStep,
  check: EnumCheck | undefined,
): Promise<void> {
  const run = (statement: string) => db.executeQuery<Record<string, string>>(CompiledQuery.raw(statement))
  const quoted = [table, column].map((name) => `"${name.replaceAll('"', '""')}"`)
  const load = async () => {
    const { rows } = await db.executeQuery<{ sql: string; fallback: string | null }>(
      CompiledQuery.raw(
        `select m.sql, c.dflt_value as fallback from sqlite_schema m, pragma_table_xinfo(m.name) c
         where m.type = 'table' and m.name = ? collate nocase and c.name = ? collate nocase`,
        [table, column],
      ),
    )
    return rows[0]
  }
  const write = async (parts: ColumnParts) => {
    const text = rewriteColumn((await load())?.sql ?? '', column, parts)
    if (text === undefined) throw errors.WP_MIGRATE_COLUMN({ table, column })
    const name = table.replaceAll("'", "''")
    await run(
      `${schemaMark} update sqlite_schema set sql = '${text.replaceAll("'", "''")}' where type = 'table' and name = '${name}' collate nocase`,
    )
  }
  const { notNull, ...parts } = partsOfChange({ table, column, change }, 'sqlite', check)
  await write({ ...parts, ...(notNull === false && { notNull }) })
  if (notNull !== true) return
  await run(`update ${quoted[0]} set ${quoted[1]} = ${(await load())?.fallback ?? 'null'} where ${quoted[1]} is null`)
  await write({ notNull })
}

type IndexStep = Extract<Step, { step: 'add_index' | 'drop_index' }>

/**
 * Whether an earlier try did this step already: what runs outside a transaction must be possible to repeat. Drops the
 * invalid index that a try leaves behind that failed while it was built.
 */
async function isDone(db: AnyDatabase, { step, table, columns }: IndexStep): Promise<boolean> {
  const text = JSON.stringify(columns)
  const found = (await loadIndexes(db, 'postgresql')).some(
    (one) => !one.isUnique && one.table === table && JSON.stringify(one.columns) === text,
  )
  const invalid = await sql<{ name: string }>`
    select n.relname as name from pg_index i join pg_class n on n.oid = i.indexrelid join pg_class c on c.oid = i.indrelid
    where c.relnamespace = (select oid from pg_namespace where nspname = current_schema()) and c.relname = ${table}
      and not i.indisvalid and not i.indisunique and i.indpred is null and array(
        select a.attname::text from unnest(i.indkey::int2[]) with ordinality as k(attnum, position)
        left join pg_attribute a on a.attrelid = c.oid and a.attnum = k.attnum order by k.position
      ) = array(select json_array_elements_text(cast(${text} as json)))`.execute(db)
  for (const { name } of invalid.rows)
    await db.executeQuery(CompiledQuery.raw(`drop index concurrently "${name.replaceAll('"', '""')}"`))
  return step === 'add_index' ? found : !found
}

/** An index keeps its name when a column is renamed, and another migration may have chosen its name. */
function namesIn(indexes: readonly Index[]): IndexNames {
  const used = new Set(indexes.map(({ name }) => name))
  return {
    make(table, columns) {
      const usual = usualNames.make(table, columns)
      let name = usual
      for (let number = 1; used.has(name); number++) name = `${usual.slice(0, 60)}${number}`
      used.add(name)
      return name
    },
    find(table, columns) {
      const text = JSON.stringify(columns)
      const found = indexes.filter(
        (one) => !one.isUnique && one.table === table && JSON.stringify(one.columns) === text,
      )
      if (found.length === 0) throw errors.WP_MIGRATE_INDEX({ table, columns: columns.join(', ') })
      return found.map(({ name }) => name)
    },
  }
}
