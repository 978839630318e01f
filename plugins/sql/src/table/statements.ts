import type { DatabaseKind } from 'waypost'
import { readRows } from './bulk-rows.ts'
import { defaultPageBytes } from './config.ts'
import { EmbedStatements } from './embed/embed-statements.ts'
import { InsertStatements, type InsertChange } from './insert-statements.ts'
import { isConverted, ListConditions, type ListShape } from './list-conditions.ts'
import type { EmbedPlan, ReferencePlan, TablePlan } from './plan.ts'
import {
  joinConditions,
  RowConditions,
  type Access,
  type ChangeCondition,
  type RowCondition,
} from './row-conditions.ts'
import { writeRowForm } from './row-form.ts'
import { writeFound, writePage } from './list-rows.ts'
import { extraPrefix, quote, quoteTable, StatementValues, writeFrom, type Statement } from './statement-values.ts'
import { valueTypes } from './value-types.ts'

export const versionAlias = `${extraPrefix}version`
export const countAlias = `${extraPrefix}count`
export const digestAlias = `${extraPrefix}digest`
export const ruleAlias = `${extraPrefix}rule`
export const policyAlias = `${extraPrefix}policy`
export const triggerAlias = `${extraPrefix}trigger`
export const cursorAlias = (index: number): string => `${extraPrefix}${index}`

/** Returns the beginning of a query whose rows the drivers of Waypost end after so many bytes; see `isCutOff`. */
export function limitBytes(bytes: number): string {
  return `/* at most ${bytes} bytes */ `
}

/** Reads a condition in a result. SQLite has no booleans. */
export function isTrue(value: unknown): boolean {
  return value === true || value === 1
}

/** Writes the statements of a plan for one kind of database. Identifiers come only from the plan. */
export class StatementWriter {
  readonly #plan: TablePlan
  readonly #kind: DatabaseKind
  readonly #values: StatementValues
  readonly #rows: RowConditions
  readonly #lists: ListConditions
  readonly #inserts: InsertStatements
  readonly #embeds: EmbedStatements

  constructor(plan: TablePlan, kind: DatabaseKind) {
    this.#plan = plan
    this.#kind = kind
    this.#values = new StatementValues(plan, kind)
    this.#rows = new RowConditions(plan, kind, this.#values)
    this.#lists = new ListConditions({ plan, kind, values: this.#values, rows: this.#rows })
    const returning = { one: () => this.#responseColumns(), many: () => this.#rowColumns() }
    this.#inserts = new InsertStatements({ plan, kind, values: this.#values, rows: this.#rows, returning })
    this.#embeds = new EmbedStatements({ plan, kind, values: this.#values, rows: this.#rows })
  }

  list(shape: ListShape): Statement {
    const { columns, owner } = this.#plan
    const cursors = shape.sort.flatMap(({ column }, index) =>
      isConverted(this.#plan.types[column]!, this.#kind)
        ? `${this.#lists.raw(column)} as ${quote(cursorAlias(index))}`
        : [],
    )
    const embedded = this.#embeds.select(shape.embeds, shape.access)
    const selected = [...columns.map((name) => this.#select(name)), ...cursors, ...embedded].join(', ')
    const conditions = this.#lists.of(shape)
    if (shape.after !== undefined) conditions.push(this.#lists.after(shape.sort, shape.after))
    const order = shape.sort.map((term) => this.#lists.order(term)).join(', ')
    const limit = shape.rows === undefined ? this.#values.addOwn(({ rows }) => rows) : String(shape.rows)
    const where = joinConditions(conditions)
    const own = new Set([...columns, ...shape.sort.map(({ column }) => column), ...shape.embeds.map((one) => one.own)])
    const rows = { table: this.#plan, own: [...own].map(quote), where, order, limit, rank: this.#lists.rank(shape) }
    // A list that is sorted without an index would embed rows in all that it sorts.
    const isSorted = shape.isScan || owner?.parent !== undefined
    const { before = '', from } = this.#isFound(shape)
      ? writeFound(rows)
      : writePage(rows, embedded.length > 0 && isSorted)
    return this.#values.end(
      `${this.#mark(shape.isScan)}${this.#limitBytes(shape.embeds)}${before}select ${selected} from ${from}`,
    )
  }

  /** Whether PostgreSQL looks up the rows that match a search. */
  #isFound({ search }: ListShape): boolean {
    return search.use === 'match' && !search.isRanked && this.#kind === 'postgresql'
  }

  count(shape: ListShape): Statement {
    const where = joinConditions(this.#lists.of(shape))
    return this.#values.end(
      `${this.#mark(true)}select count(*) as ${quote(countAlias)} from ${writeFrom(this.#plan)}${where}`,
    )
  }

  read(access: Access, embeds: readonly EmbedPlan[]): Statement {
    const { scans = false } = this.#plan
    const selected = [this.#responseColumns(), ...this.#embeds.select(embeds, access)].join(', ')
    const where = this.#rows.row({ access })
    const isScan = scans || embeds.some((one) => one.scans)
    return this.#values.end(`${this.#mark(isScan)}select ${selected} from ${writeFrom(this.#plan)}${where}`)
  }

  /** Finds out whether a row exists for the caller, its version, and which of its new references do. */
  find({ access, written, references }: ChangeCondition): Statement {
    const { version } = this.#plan
    const selected = [
      `${version === undefined ? '1' : quote(version.column)} as ${quote(versionAlias)}`,
      ...references.map((one, index) => `${this.#rows.reference(one, { written, access })} as ${quote(String(index))}`),
    ]
    return this.#values.end(`select ${selected.join(', ')} from ${writeFrom(this.#plan)}${this.#rows.row({ access })}`)
  }

  /** Finds out which of the rows that a new row refers to exist for the caller. */
  findReferences(references: readonly ReferencePlan[], written: readonly string[], access: Access): Statement {
    const found = references.map(
      (one, index) => `${this.#rows.reference(one, { written, access, isNew: true })} as ${quote(String(index))}`,
    )
    return this.#values.end(`select ${found.join(', ')}`)
  }

  insert(change: InsertChange): Statement {
    return this.#inserts.one(change)
  }

  insertRows(change: InsertChange): Statement {
    return this.#inserts.many(change)
  }

  update({ written, references, ...condition }: ChangeCondition): Statement {
    const { version, set } = this.#plan
    const sets = [
      ...written.map((name) => `${quote(name)} = ${this.#values.bindBody(name)}`),
      ...Object.entries(set).map(([name, source]) => `${quote(name)} = ${this.#values.bindSet(name, source)}`),
    ]
    if (version !== undefined) sets.push(`${quote(version.column)} = ${quote(version.column)} + 1`)
    const { access } = condition
    const where = this.#rows.row(
      condition,
      references.map((one) => () => this.#rows.reference(one, { written, access })),
    )
    return this.#values.end(
      `update ${writeFrom(this.#plan)} set ${sets.join(', ')}${where} returning ${this.#responseColumns()}`,
    )
  }

  /** @param isReplaced whether a rule of PostgreSQL replaces the statement, which then cannot return a row */
  delete(condition: RowCondition, isReplaced = false): Statement {
    const end = this.#kind === 'sqlite' || isReplaced ? '' : ' returning 1'
    return this.#values.end(`delete from ${writeFrom(this.#plan)}${this.#rows.row(condition)}${end}`)
  }

  /** Reads a digest of a row, to find out whether a rule of PostgreSQL has changed it. */
  digest(condition: RowCondition): Statement {
    const row = this.#values.nextAlias()
    const where = this.#rows.row(condition)
    return this.#values.end(
      `select md5(cast(${row} as text)) as ${quote(digestAlias)} from (select * from ${writeFrom(this.#plan)}${where}) as ${row}`,
    )
  }

  /** Finds out whether a rule of PostgreSQL replaces `delete`, and whether policies restrict which rows may be changed. */
  findRefusals(): Statement {
    const name = `'${quoteTable(this.#plan).replaceAll("'", "''")}'`
    const rules = `select 1 from pg_rewrite where ev_class = cast(${name} as regclass) and is_instead and ev_type = '4'`
    return this.#values.end(
      `select exists (${rules}) as ${quote(ruleAlias)}, row_security_active(${name}) as ${quote(policyAlias)}`,
    )
  }

  /** Finds out whether triggers or rules may change a row after a statement has returned it, also those of partitions. */
  findTriggers(): Statement {
    const { table } = this.#plan
    const text = (value: string) => `'${value.replaceAll("'", "''")}'`
    if (this.#kind === 'sqlite') {
      const triggers = `select 1 from sqlite_schema where type = 'trigger' and lower(tbl_name) = lower(${text(table)})`
      return this.#values.end(`select exists (${triggers}) as ${quote(triggerAlias)}`)
    }
    const tree = `with recursive tree as (select cast(${text(quoteTable(this.#plan))} as regclass) as id
      union select cast(inhrelid as regclass) from pg_inherits join tree on inhparent = id)`
    const triggers =
      'select 1 from pg_trigger where tgrelid in (select id from tree) and not tgisinternal and tgtype & 66 = 0'
    const rules = "select 1 from pg_rewrite where ev_class in (select id from tree) and ev_type in ('2', '3')"
    return this.#values.end(`${tree} select exists (${triggers}) or exists (${rules}) as ${quote(triggerAlias)}`)
  }

  /** Reads a row again that was just written, by `identity`. */
  readAgain(access: Access): Statement {
    const { identity = [] } = this.#plan
    const own = identity.map((name) => `${this.#values.compared(name)} = ${this.#values.bindIdentity(name)}`)
    const where = joinConditions([...own, ...this.#rows.of(access)])
    return this.#values.end(`select ${this.#responseColumns()} from ${writeFrom(this.#plan)}${where}`)
  }

  /** Reads rows again that were just written, by `identity`, in any order. */
  readRowsAgain(access: Access): Statement {
    const { identity = [] } = this.#plan
    const values = this.#values
    const from = readRows(this.#plan, { kind: this.#kind, use: 'compare', values, columns: identity })
    const written = identity.map((name) => this.#values.bindBody(name)).join(', ')
    const own = identity.map((name) => this.#values.compared(name)).join(', ')
    const where = joinConditions([`(${own}) in (select ${written} from ${from})`, ...this.#rows.of(access)])
    return this.#values.end(`select ${this.#responseColumns()} from ${writeFrom(this.#plan)}${where}`)
  }

  /** Makes SQLite run a query in a thread. */
  #mark(isScan: boolean): string {
    return isScan && this.#kind === 'sqlite' ? '/* scan */ ' : ''
  }

  /** Makes the driver stop after so many bytes of rows. */
  #limitBytes(embeds: readonly EmbedPlan[]): string {
    const { columns, types, list } = this.#plan
    const isLimited = embeds.length > 0 || columns.some((name) => valueTypes[types[name]!.type].isLarge)
    return isLimited ? limitBytes(list?.limit.bytes ?? defaultPageBytes) : ''
  }

  /** A column of a response. */
  #select(name: string): string {
    const column = quote(name)
    const { types, jsonAsText } = this.#plan
    const form = writeRowForm(types[name]!, column, { kind: this.#kind, jsonAsText })
    return form === column ? column : `${form} as ${column}`
  }

  /** The columns of a row and its version. */
  #responseColumns(): string {
    const { version } = this.#plan
    return this.#rowColumns() + (version === undefined ? '' : `, ${quote(version.column)} as ${quote(versionAlias)}`)
  }

  #rowColumns(): string {
    return this.#plan.columns.map((name) => this.#select(name)).join(', ')
  }
}
