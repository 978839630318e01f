import type { TablePlan } from './plan.ts'
import { joinConditions, type ChangeCondition, type RowConditions } from './row-conditions.ts'
import { quote, type Statement, type StatementValues } from './statement-values.ts'

interface InsertParts {
  readonly plan: TablePlan
  readonly values: StatementValues
  readonly rows: RowConditions
  /** Writes the columns of responses. */
  readonly returning: () => string
}

/** Writes the statements that add rows. */
export class InsertStatements {
  readonly #plan: TablePlan
  readonly #values: StatementValues
  readonly #rows: RowConditions
  readonly #returning: () => string

  constructor({ plan, values, rows, returning }: InsertParts) {
    this.#plan = plan
    this.#values = values
    this.#rows = rows
    this.#returning = returning
  }

  one({ access, written, references }: ChangeCondition): Statement {
    const { table, owner, version, set } = this.#plan
    const now = (this.#plan.now ?? []).filter((name) => !written.includes(name))
    const columns = [...written, ...Object.keys(set), ...now]
    const values = [
      ...written.map((name) => this.#values.bindBody(name)),
      ...Object.entries(set).map(([name, source]) => this.#values.bindSet(name, source)),
      ...now.map((name) => this.#values.bindSet(name, { from: 'now' })),
    ]
    if (owner !== undefined && owner.parent === undefined) {
      columns.push(owner.column)
      values.push(this.#values.bindSource(owner.column, { from: 'user' }))
    }
    if (version !== undefined) {
      columns.push(version.column)
      values.push('1')
    }
    const conditions = references.map((one) => this.#rows.reference(one, { written, access, isNew: true }))
    const selected = conditions.length === 0 ? `values (${values.join(', ')})` : `select ${values.join(', ')}`
    const row =
      columns.length === 0
        ? 'default values'
        : `(${columns.map(quote).join(', ')}) ${selected}${joinConditions(conditions)}`
    return this.#values.end(`insert into ${quote(table)} ${row} returning ${this.#returning()}`)
  }
}
