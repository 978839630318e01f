import type { DatabaseKind } from 'waypost'
import { readRows, rowOrder } from './bulk-rows.ts'
import type { TablePlan } from './plan.ts'
import { joinConditions, type Access, type ChangeCondition, type RowConditions } from './row-conditions.ts'
import { extraPrefix, quote, writeFrom, type Statement, type StatementValues } from './statement-values.ts'

/** The name of a column of the unique constraint in the result of an upsert. */
export const uniqueAlias = (index: number): string => `${extraPrefix}unique${index}`

/** What an insert does with a row that exists: nothing, or what a change does. By default it fails. */
export type OnConflict = 'ignore' | 'change'

export interface InsertChange extends ChangeCondition {
  readonly conflict?: OnConflict | undefined
  /** Whether the statement fails unless it inserts all rows. Only on PostgreSQL, and not if the table has rules. */
  readonly isWhole?: boolean
}

const inserted = quote(`${extraPrefix}inserted`)

interface InsertParts {
  readonly plan: TablePlan
  readonly kind: DatabaseKind
  readonly values: StatementValues
  readonly rows: RowConditions
  /** Write the columns of responses: those of several rows have no version. */
  readonly returning: { one(): string; many(): string }
}

/** Writes the statements that add rows. */
export class InsertStatements {
  readonly #plan: TablePlan
  readonly #kind: DatabaseKind
  readonly #values: StatementValues
  readonly #rows: RowConditions
  readonly #returning: InsertParts['returning']

  constructor({ plan, kind, values, rows, returning }: InsertParts) {
    this.#plan = plan
    this.#kind = kind
    this.#values = values
    this.#rows = rows
    this.#returning = returning
  }

  one(change: InsertChange): Statement {
    const { access, written, references } = change
    const columns = this.#columns(written)
    const values = Object.values(columns).join(', ')
    const conditions = references.map((one) => this.#rows.reference(one, { written, access, isNew: true }))
    const selected = conditions.length === 0 ? `values (${values})` : `select ${values}${joinConditions(conditions)}`
    const row = values === '' ? 'default values' : `(${Object.keys(columns).map(quote).join(', ')}) ${selected}`
    return this.#values.end(this.#write(row, change, this.#returning.one()))
  }

  /** Adds the rows of the request, in their order. All have the columns `written`, of which there is at least one. */
  many(change: InsertChange): Statement {
    const { access, written, references } = change
    const from = readRows(this.#plan, { kind: this.#kind, values: this.#values, columns: written })
    const columns = this.#columns(written)
    const conditions = references.map((one) => {
      const check = this.#rows.reference(one, { written, access, isNew: true })
      const own = one.inPath ? [] : one.columns.filter((name) => written.includes(name))
      const isNull = own.map((name) => `${this.#values.bindBody(name)} is null`)
      return isNull.length === 0 ? check : `(${[...isNull, check].join(' or ')})`
    })
    const selected = `select ${Object.values(columns).join(', ')} from ${from}${joinConditions(conditions)}`
    const rows = `(${Object.keys(columns).map(quote).join(', ')}) ${selected} order by ${rowOrder(this.#kind)}`
    const insert = this.#write(rows, change, this.#returning.many())
    if (change.isWhole !== true) return this.#values.end(insert)
    const length = this.#values.add(({ list }) => list!.length)
    // A division by zero, unless there are as many rows.
    const all = `select 1 / cast(count(*) = ${length} as integer) from ${inserted}`
    return this.#values.end(`with ${inserted} as (${insert}) select * from ${inserted} where (${all}) = 1`)
  }

  /** Returns the expression of each column of a new row. */
  #columns(written: readonly string[]): Readonly<Record<string, string>> {
    const { owner, version, set, now = [] } = this.#plan
    const columns: Record<string, string> = {}
    for (const name of written) columns[name] = this.#values.bindBody(name)
    for (const [name, source] of Object.entries(set)) columns[name] = this.#values.bindSet(name, source)
    for (const name of now) if (!written.includes(name)) columns[name] = this.#values.bindSet(name, { from: 'now' })
    if (owner !== undefined && owner.parent === undefined)
      columns[owner.column] = this.#values.bindSource(owner.column, { from: 'user' })
    if (version !== undefined) columns[version.column] = '1'
    return columns
  }

  #write(row: string, { access, written, conflict }: InsertChange, returning: string): string {
    const { upsert } = this.#plan
    const isUpsert = upsert !== undefined && conflict !== undefined
    const found = isUpsert ? ` on conflict (${upsert.columns.map(quote).join(', ')}) do ` : ''
    const action = conflict === 'change' ? this.#change(written, access) : 'nothing'
    const unique = (upsert?.columns ?? []).map((name, index) => `, ${quote(name)} as ${quote(uniqueAlias(index))}`)
    return `insert into ${writeFrom(this.#plan)} ${row}${isUpsert ? found + action : ''} returning ${returning}${isUpsert ? unique.join('') : ''}`
  }

  /** What an upsert does with a row that exists, if the caller may change it. */
  #change(written: readonly string[], access: Access): string {
    const { table, version, upsert } = this.#plan
    const own = (name: string) => `${quote(table)}.${quote(name)}`
    const { columns, write, set } = upsert!
    const sets = [
      ...write.filter((name) => written.includes(name)).map((name) => `${quote(name)} = excluded.${quote(name)}`),
      ...Object.entries(set).map(([name, source]) => `${quote(name)} = ${this.#values.bindSet(name, source)}`),
      ...(version === undefined ? [] : [`${quote(version.column)} = ${own(version.column)} + 1`]),
    ]
    if (sets.length === 0) sets.push(`${quote(columns[0]!)} = ${own(columns[0]!)}`) // otherwise no row is returned
    return `update set ${sets.join(', ')}${joinConditions(this.#rows.of(access))}`
  }
}
