import { sql } from 'kysely'
import type { ColumnSnapshot, DatabaseKind, ForeignKeySnapshot, TableSnapshot, TimeForm } from '../../contract/index.ts'
import type { Snapshot } from '../../tables/index.ts'
import { describeType, type TypePlace } from './describe-type.ts'
import { loadTables, type Column, type Table, type UnreadableTable } from './introspect.ts'
import { isListed, nameOf } from './listed-tables.ts'
import { loadSearches } from './search-steps.ts'
import { formOfNow, loadTimeForms, type FoundForm } from './time-forms.ts'
import { existingTables, loadApplied, writeChecksum, type AnyDatabase } from './migration-table.ts'

/**
 * Returns the tables of a database and the migrations that were applied to it.
 * @param onUnreadable called for each table or view that is left out because it cannot be read
 * @param writtenOf returns the form that was chosen for new times of a column
 */
export async function loadSnapshot(
  db: AnyDatabase,
  kind: DatabaseKind,
  onUnreadable?: (table: UnreadableTable) => void,
  writtenOf: (table: string, column: string) => ColumnSnapshot['written'] = () => undefined,
): Promise<Snapshot> {
  const tables = await loadTables(db, kind, onUnreadable)
  const indexes = await loadIndexes(db, kind)
  const foreignKeys = await (kind === 'sqlite' ? loadSqliteKeys(db, tables) : loadPostgresKeys(db))
  const searches = await loadSearches(db, kind)
  const applied = await loadApplied({ db, kind })
  const forms = kind === 'sqlite' ? await loadTimeForms(db, tables) : undefined
  // Tables that migrations made have the same snapshot on both databases.
  const isOwn = (await existingTables({ db, kind }, ['waypost_migration'])).length > 0
  const place = ({ isView }: Table) => ({ isView, isOwn, kind })
  const makeSnapshot = (table: Table): TableSnapshot => {
    const own = indexes.filter((index) => index.table === table.name)
    const search = searches.get(table.name)
    return {
      ...(table.schema !== undefined && { schema: table.schema }),
      ...(table.isView && { view: true }),
      columns: Object.fromEntries(
        table.columns.map((column) => [
          column.name,
          describeColumn(isOwn ? { ...column, isWide: false } : asForeign(column), place(table), {
            form: forms?.get(table.name)?.get(column.name),
            written: writtenOf(table.name, column.name),
          }),
        ]),
      ),
      key: table.key,
      unique: own.filter(({ isUnique }) => isUnique).map(({ columns }) => columns),
      index: own.filter(({ isUnique }) => !isUnique).map(({ columns }) => columns),
      references: foreignKeys.filter((key) => key.from === table.name).map(({ from: _, ...key }) => key),
      ...(search && { search }),
    }
  }
  return {
    migrations: Object.fromEntries(applied.map((row) => [row.name, writeChecksum(row)])),
    tables: Object.fromEntries(tables.map((table) => [table.name, makeSnapshot(table)])),
  }
}

/** Another program may store more in a column of SQLite than Waypost's migrations allow. */
function asForeign(column: Column): Column {
  return { ...column, isNullable: column.isNullable || column.mayLackKey === true }
}

interface Forms {
  readonly form: FoundForm | undefined
  /** The form that was chosen for new times. */
  readonly written: ColumnSnapshot['written']
}

function describeColumn(column: Column, place: TypePlace, forms: Forms): ColumnSnapshot {
  const { isNullable, isGenerated, isId, isComputed, isNow } = column
  const { type, form, written } = describeForm(column, forms)
  const stored = written ?? form ?? forms.form
  return {
    ...(type === undefined ? describeType(column, place) : { type }),
    ...(isNullable && { null: true }),
    ...(isGenerated && !isId && !isComputed && { default: true }),
    ...(isComputed && { generated: true }),
    ...(form !== undefined && { form }),
    ...(written !== undefined && { written }),
    ...(isNow && stored !== undefined && !isCompatible(stored) && { now: true }),
  }
}

/** Describes how another program stores the times of a column, which may not be what its declaration says. */
function describeForm(
  { type: declared }: Column,
  { form, written }: Forms,
): Partial<Pick<ColumnSnapshot, 'type' | 'form' | 'written'>> {
  if (form === undefined || form === (declared === 'date' ? 'YYYY-MM-DD' : 'canonical')) return {}
  if (form === 'mixed') return { form, ...(declared !== 'date' && written !== undefined && { written }) }
  if (declared !== 'date') return form === 'YYYY-MM-DD' ? { type: 'date', form } : { form: form as TimeForm }
  if (form === 'seconds' || form === 'julian') return { form: 'mixed' } // they may be days
  const own = form === 'canonical' ? 'YYYY-MM-DDTHH:MM:SS.SSSZ' : (form as Exclude<TimeForm, 'mixed'>)
  // The driver reads a day from such a column, so the time is read from any form.
  return { type: 'timestamp', form: 'mixed', written: own }
}

/** Whether a column with this form stays readable and sortable if SQLite writes the current time into it. */
function isCompatible(form: FoundForm): boolean {
  return form === formOfNow || form === 'YYYY-MM-DD HH:MM:SS[.S]' || form === 'mixed'
}

export interface Index {
  readonly table: string
  readonly name: string
  readonly isUnique: boolean
  readonly columns: readonly string[]
}

/** Returns the indexes that cover all rows, without those of primary keys and of expressions. */
export async function loadIndexes(db: AnyDatabase, kind: DatabaseKind): Promise<readonly Index[]> {
  const { rows } = await (kind === 'sqlite' ? sqliteIndexes : postgresIndexes).execute(db)
  return [...Map.groupBy(rows, ({ table, name }) => JSON.stringify([table, name])).values()].flatMap((parts) => {
    const columns = parts.flatMap(({ column }) => column ?? [])
    const { table, name, isUnique } = parts[0]!
    return columns.length === parts.length ? [{ table, name, isUnique: Boolean(isUnique), columns }] : []
  })
}

interface IndexColumn {
  readonly table: string
  readonly name: string
  readonly isUnique: boolean | number
  /** Null for an expression. */
  readonly column: string | null
}

const sqliteIndexes = sql<IndexColumn>`
  select m.name as "table", l.name, l."unique" as "isUnique", x.name as "column"
  from sqlite_schema m, pragma_index_list(m.name) l, pragma_index_info(l.name) x
  where m.type = 'table' and l.origin <> 'pk' and l.partial = 0
  order by m.name, l.name, x.seqno`

const postgresIndexes = sql<IndexColumn>`
  select ${nameOf(sql.ref('n'), sql.ref('c'))} as "table", o.relname as name, i.indisunique and i.indimmediate as "isUnique", a.attname as "column"
  from pg_index i
  join pg_class c on c.oid = i.indrelid
  join pg_namespace n on n.oid = c.relnamespace
  join pg_class o on o.oid = i.indexrelid
  join pg_am m on m.oid = o.relam
  cross join lateral unnest(i.indkey::int2[]) with ordinality as k(attnum, position)
  left join pg_attribute a on a.attrelid = c.oid and a.attnum = k.attnum
  where ${isListed} and not i.indisprimary and i.indisvalid and i.indpred is null and m.amname = 'btree' and k.position <= i.indnkeyatts
  order by n.nspname, c.relname, o.relname, k.position`

type ForeignKey = ForeignKeySnapshot & { readonly from: string }

interface KeyColumn {
  readonly from: string
  readonly id: number
  readonly table: string
  readonly column: string
  /** Null for the primary key. */
  readonly to: string | null
  readonly rule: string
}

const rules: Readonly<Record<string, ForeignKeySnapshot['on_delete']>> = {
  CASCADE: 'cascade',
  'SET NULL': 'set null',
  'SET DEFAULT': 'set default',
  RESTRICT: 'restrict',
}

async function loadSqliteKeys(db: AnyDatabase, tables: readonly Table[]): Promise<readonly ForeignKey[]> {
  const { rows } = await sql<KeyColumn>`
    select m.name as "from", k.id, k."table", k."from" as "column", k."to", k.on_delete as rule
    from sqlite_schema m, pragma_foreign_key_list(m.name) k
    where m.type = 'table'
    order by m.name, k.id, k.seq`.execute(db)
  return [...Map.groupBy(rows, ({ from, id }) => `${id} ${from}`).values()].map((parts) => {
    const { from, table: written, rule } = parts[0]!
    const target = tables.find(({ name }) => name.toLowerCase() === written.toLowerCase())
    return {
      from,
      columns: parts.map(({ column }) => column),
      table: target?.name ?? written,
      to: parts.map(({ to }, index) => to ?? target?.key[index] ?? ''),
      ...withRule(rules[rule]),
    }
  })
}

async function loadPostgresKeys(db: AnyDatabase): Promise<readonly ForeignKey[]> {
  const { rows } = await sql<KeyColumn>`
    select ${nameOf(sql.ref('n'), sql.ref('c'))} as "from", k.oid::text as id, ${nameOf(sql.ref('g'), sql.ref('f'))} as "table", a.attname as "column", b.attname as "to",
      case k.confdeltype when 'c' then 'CASCADE' when 'n' then 'SET NULL' when 'd' then 'SET DEFAULT' when 'r' then 'RESTRICT'
        else '' end as rule
    from pg_constraint k
    join pg_class c on c.oid = k.conrelid
    join pg_namespace n on n.oid = c.relnamespace
    join pg_class f on f.oid = k.confrelid
    join pg_namespace g on g.oid = f.relnamespace
    cross join lateral unnest(k.conkey, k.confkey) with ordinality as p(own, other, position)
    join pg_attribute a on a.attrelid = c.oid and a.attnum = p.own
    join pg_attribute b on b.attrelid = f.oid and b.attnum = p.other
    where k.contype = 'f' and k.conparentid = 0 and ${isListed}
    order by n.nspname, c.relname, k.oid, p.position`.execute(db)
  return [...Map.groupBy(rows, ({ id }) => id).values()].map((parts) => ({
    from: parts[0]!.from,
    columns: parts.map(({ column }) => column),
    table: parts[0]!.table,
    to: parts.map(({ to }) => to!),
    ...withRule(rules[parts[0]!.rule]),
  }))
}

function withRule(rule: ForeignKeySnapshot['on_delete']): Pick<ForeignKeySnapshot, 'on_delete'> {
  return rule === undefined ? {} : { on_delete: rule }
}
