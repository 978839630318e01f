import { nameSearchTable, searchColumn, type DatabaseKind } from 'waypost'
import type { TablePlan } from '../plan.ts'
import { quote, quoteTable, type StatementValues } from '../statement-values.ts'
import type { SearchUse } from './read-search.ts'

interface SearchParts {
  readonly plan: TablePlan
  readonly kind: DatabaseKind
  readonly values: StatementValues
}

/** Writes the condition for the rows that match a search, and their rank. */
export class SearchConditions {
  readonly #plan: TablePlan
  readonly #kind: DatabaseKind
  readonly #values: StatementValues

  constructor({ plan, kind, values }: SearchParts) {
    this.#plan = plan
    this.#kind = kind
    this.#values = values
  }

  of(use: SearchUse): string {
    if (use === 'none') return '1 = 0'
    if (this.#kind === 'postgresql') return `${this.#column()} @@ ${this.#query()}`
    const { table } = this.#plan
    const words = quote(nameSearchTable(table))
    const found = `(select rowid from ${words} where ${words} match ${this.#text()})`
    return `${quote(table)}._rowid_ ${use === 'exclude' ? 'not in' : 'in'} ${found}`
  }

  /** A number that is higher for rows that fit better. It depends on the row alone. Only on PostgreSQL. */
  rank(): string {
    const { letters } = this.#plan.list!.search!
    // `ts_rank` counts words whatever their weight in the query, so also those of columns that are not searched.
    const words =
      letters === undefined ? this.#column() : `ts_filter(${this.#column()}, '{${Array.from(letters).join()}}')`
    return `ts_rank(${words}, ${this.#query()})`
  }

  #column(): string {
    return `${quoteTable(this.#plan)}.${quote(searchColumn)}`
  }

  #query(): string {
    const { configuration } = this.#plan.list!.search!
    return `to_tsquery('${configuration.replaceAll("'", "''")}', ${this.#text()})`
  }

  #text(): string {
    return this.#values.add(({ search }) => search)
  }
}
