import type { DatabaseKind } from 'waypost'
import { writeKeyset } from './keyset.ts'
import type { EmbedPlan, FilterOperator, PlanColumn, SortTerm, TablePlan } from './plan.ts'
import { joinConditions, type Access, type RowConditions } from './row-conditions.ts'
import type { GivenSearch } from './search/read-search.ts'
import { SearchConditions } from './search/search-conditions.ts'
import { isParsed } from './row-form.ts'
import { quote, quoteTable, type Input, type Read, type StatementValues } from './statement-values.ts'
import type { Bind } from './values.ts'

/** Which of its forms a list has. Each form has a text of its own. */
export interface ListShape {
  readonly access: Access
  readonly filters: readonly UsedFilter[]
  /** Filters of which a row meets at least one, if there are any. */
  readonly any: readonly UsedFilter[]
  readonly search: Pick<GivenSearch, 'use' | 'isRanked'>
  /** Complete. */
  readonly sort: readonly SortTerm[]
  /** Whether each value of the cursor is null; undefined on the first page. */
  readonly after: readonly boolean[] | undefined
  /** The number of rows, if it is always the same. */
  readonly rows: number | undefined
  /** Whether no index serves the filters or the order, as far as is known. */
  readonly isScan: boolean
  readonly embeds: readonly EmbedPlan[]
}

/** A filter that a list accepts. */
export interface PossibleFilter {
  /** The query parameter. */
  readonly name: string
  readonly column: string
  readonly operator: FilterOperator
  readonly type: PlanColumn
  /** The column is one of the row that is embedded. */
  readonly embed?: EmbedPlan
}

export interface UsedFilter {
  /** The query parameter. */
  readonly name: string
  readonly column: string
  readonly operator: FilterOperator
  /** Whether it has several values. */
  readonly isList: boolean
  /** Only for the operator `null`. */
  readonly isNull: boolean
  /** The column is one of the row that is embedded. */
  readonly embed?: EmbedPlan
  /** Its position among alternatives. */
  readonly at?: number
}

interface ListParts {
  readonly plan: TablePlan
  readonly kind: DatabaseKind
  readonly values: StatementValues
  readonly rows: RowConditions
}

/** Writes which rows a list has, and their order. */
export class ListConditions {
  readonly #plan: TablePlan
  readonly #kind: DatabaseKind
  readonly #values: StatementValues
  readonly #rows: RowConditions
  readonly #search: SearchConditions

  constructor({ plan, kind, values, rows }: ListParts) {
    this.#plan = plan
    this.#kind = kind
    this.#values = values
    this.#rows = rows
    this.#search = new SearchConditions({ plan, kind, values })
  }

  /** The conditions of all pages. */
  of({ access, filters, any, search }: ListShape): string[] {
    const conditions = [...this.#rows.of(access, true), ...filters.map((filter) => this.#filter(filter, access))]
    if (search.use !== undefined) conditions.push(this.#search.of(search.use))
    const alternatives = any.map((filter) => this.#filter(filter, access))
    return alternatives.length === 0 ? conditions : [...conditions, `(${alternatives.join(' or ')})`]
  }

  /** The rows after the last one of the previous page. */
  after(sort: readonly SortTerm[], nulls: readonly boolean[]): string {
    const terms = sort.map(({ column, descending }, index) => ({
      name: this.#values.compared(column),
      descending,
      isNullable: this.#isNullable(column) || nulls[index]!,
      parameter: nulls[index] ? undefined : this.#values.add(({ after }) => after![index]),
    }))
    return writeKeyset(terms)
  }

  order({ column, descending }: SortTerm): string {
    // A name alone would mean the text of the row, which has another order.
    const isText = this.#kind === 'postgresql' && isParsed(this.#plan.types[column]!)
    const compared = isText ? `${quote(this.#plan.table)}.${quote(column)}` : this.#values.compared(column)
    return writeOrder(compared, { descending, isNullable: this.#isNullable(column), kind: this.#kind })
  }

  /** What rows are sorted by before their order, as an expression. */
  rank({ search }: ListShape): string | undefined {
    return search.isRanked && search.use === 'match' ? this.#search.rank() : undefined
  }

  /** Reads a value as the database has it. On SQLite an expression has no declared type, so the driver does not convert it. */
  raw(column: string): string {
    return this.#kind === 'sqlite' ? `+${this.#values.compared(column)}` : `${quote(column)}::text`
  }

  #filter(filter: UsedFilter, access: Access): string {
    const { column, operator, embed, isNull } = filter
    const read = readOf(filter)
    if (embed !== undefined) return this.#inEmbedded(filter, embed, access)
    const bind = this.#values.bindOf(column)
    const one = quote(column)
    switch (operator) {
      case 'null':
        return `${one} is ${isNull ? '' : 'not '}null`
      case 'contains': {
        const parameter = this.#values.add(read)
        return this.#kind === 'sqlite'
          ? `instr(${one}, ${parameter}) > 0`
          : `strpos(${one} collate "C", ${parameter}) > 0`
      }
      case 'eq':
        return this.#equals(filter, bind, this.#values.compared(column))
      case 'not':
        return `(${this.#equals(filter, bind, this.#values.compared(column))}) is not true`
      default:
        if (this.#plan.types[column]!.form !== undefined && this.#kind === 'sqlite')
          return this.#compareForms(column, operator, read)
        if (this.#kind === 'sqlite' && this.#plan.types[column]!.type === 'timestamp')
          return this.#compareTimes(one, operator, (input) => bind(read(input)) as string)
        return `${one} ${comparisons[operator]} ${this.#values.add((input) => bind(read(input)))}`
    }
  }

  #equals(filter: UsedFilter, bind: Bind, compared: string): string {
    const read = readOf(filter)
    const all = (input: Input) => [read(input)].flat()
    if (filter.isList) return this.#rows.inList(filter.column, (input) => all(input).map(bind), compared)
    return `${compared} = ${this.#values.add((input) => bind(all(input)[0]))}`
  }

  /** The condition that a row refers to one with such a value, which exists for the caller. */
  #inEmbedded(filter: UsedFilter, embed: EmbedPlan, access: Access): string {
    const { own, other, types } = embed
    const { column } = filter
    const alias = this.#values.nextAlias()
    const compared = this.#values.compared(column, types[column], `${alias}.${quote(column)}`)
    const bind = this.#values.bindOther(filter.name, types[column]!)
    const conditions = [
      this.#equals(filter, bind, compared),
      ...this.#rows.visible(embed, alias, { access, isList: true }),
    ]
    const from = `${quoteTable(embed)} as ${alias}${joinConditions(conditions)}`
    return `${quote(this.#plan.table)}.${quote(own)} in (select ${alias}.${quote(other)} from ${from})`
  }

  /** Compares times in the form of another program. */
  #compareForms(column: string, operator: keyof typeof comparisons, read: Read): string {
    const bind = this.#values.bindOf(column, operator === 'gt' || operator === 'lte' ? 'floor' : 'ceil')
    return `${this.#values.compared(column)} ${comparisons[operator]} ${this.#values.add((input) => bind(read(input)))}`
  }

  /**
   * Compares times as SQLite stores them. As text, a time with microseconds is before the one with the same milliseconds:
   * `.123456Z` and then `.123Z`.
   */
  #compareTimes(column: string, operator: keyof typeof comparisons, read: (input: Input) => string): string {
    const add = (write: (time: ComparedTime) => string) => this.#values.add((input) => write(divideTime(read(input))))
    const isGreater = operator === 'gt' || operator === 'gte'
    const least = `${column} ${comparisons[operator]} ${add(({ least }) => least)}`
    const same = add(({ whole, isWhole }) => (isWhole && (operator === 'gte' || operator === 'lt') ? '' : whole))
    if (isGreater) return `${least} and ${column} <> ${same}`
    return `${column} <= ${add(({ whole }) => whole)} and (${least} or ${column} = ${same})`
  }

  #isNullable(column: string): boolean {
    return isNullable(this.#plan.types[column]!)
  }
}

interface OrderOptions {
  readonly descending: boolean
  readonly isNullable: boolean
  readonly kind: DatabaseKind
}

/** Null is the largest value. PostgreSQL does that itself. */
export function writeOrder(compared: string, { descending, isNullable: hasNulls, kind }: OrderOptions): string {
  const direction = descending ? `${compared} desc` : compared
  if (kind === 'postgresql' || !hasNulls) return direction
  return `${direction} nulls ${descending ? 'first' : 'last'}`
}

function readOf({ name, at }: UsedFilter): Read {
  return at === undefined ? ({ query }) => query[name] : ({ alternatives }) => alternatives![at]
}

interface ComparedTime {
  /** The time with milliseconds. */
  readonly whole: string
  /** Whether it has no microseconds. */
  readonly isWhole: boolean
  /** The first text of the time among those with microseconds. */
  readonly least: string
}

function divideTime(time: string): ComparedTime {
  const milliseconds = time.slice(0, '2026-11-20T08:00:00.000'.length)
  const whole = `${milliseconds}Z`
  const isWhole = time === whole
  return { whole, isWhole, least: isWhole ? milliseconds : time }
}

const comparisons = { gt: '>', gte: '>=', lt: '<', lte: '<=' } as const

/** Whether a column is null for comparisons in some rows. Times of several forms are if they are none. */
export function isNullable({ null: allowsNull, form }: PlanColumn): boolean {
  return allowsNull === true || form === 'mixed'
}

const convertedTypes: Readonly<Record<DatabaseKind, readonly string[]>> = {
  sqlite: ['timestamp', 'date', 'numeric'],
  postgresql: ['number', 'bytes', 'array'],
}

/** Whether a row does not contain a column's values so that the database finds them again: numbers such as NaN, decimals and bytes. */
export function isConverted({ type }: PlanColumn, kind: DatabaseKind): boolean {
  return convertedTypes[kind].includes(type)
}
