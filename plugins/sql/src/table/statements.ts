import { defaultPageBytes } from './config.ts'
import { writeKeyset } from './keyset.ts'
import { nameFilter, type FilterOperator, type PlanColumn, type SortTerm, type Source, type TablePlan } from './plan.ts'
import { bindList, makeBind, type Bind, type DatabaseKind } from './values.ts'

/** What the values of a statement come from. */
export interface Input {
  readonly params: Readonly<Record<string, unknown>>
  readonly query: Readonly<Record<string, unknown>>
  readonly body: Readonly<Record<string, unknown>>
  readonly userId: string | undefined
  /** ISO text. */
  readonly now: string
  /** The number of rows to read. */
  readonly rows?: number
  /** The values of the sort columns in the last row of the previous page. */
  readonly after?: readonly unknown[]
  /** The versions that If-Match allows. */
  readonly versions?: readonly bigint[]
}

type Read = (input: Input) => unknown

/** A statement whose text is always the same, and the values of its parameters. */
export interface Statement {
  readonly text: string
  readonly values: readonly Read[]
}

/** The columns of results that are not columns of the table begin with this. Table columns are never read by these names. */
const extraPrefix = '~'
export const versionAlias = `${extraPrefix}version`
export const countAlias = `${extraPrefix}count`
export const cursorAlias = (index: number): string => `${extraPrefix}${index}`

/** Returns the beginning of a query whose rows the drivers of Waypost end after so many bytes; see `isCutOff`. */
export function limitBytes(bytes: number): string {
  return `/* at most ${bytes} bytes */ `
}

/** Which of its forms a list has. Each form has a text of its own. */
export interface ListShape {
  readonly isOwned: boolean
  readonly filters: readonly UsedFilter[]
  /** Complete. */
  readonly sort: readonly SortTerm[]
  /** Whether each value of the cursor is null; undefined on the first page. */
  readonly after: readonly boolean[] | undefined
  /** The number of rows, if it is always the same. */
  readonly rows: number | undefined
  /** Whether no index serves the filters or the order, as far as is known. */
  readonly isScan: boolean
}

export interface UsedFilter {
  readonly column: string
  readonly operator: FilterOperator
  /** Whether it has several values. */
  readonly isList: boolean
  /** Only for the operator `null`. */
  readonly isNull: boolean
}

export function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** Writes the statements of a plan for one kind of database. Identifiers come only from the plan. */
export class StatementWriter {
  readonly #plan: TablePlan
  readonly #kind: DatabaseKind
  readonly #binds = new Map<string, Bind>()
  #values: Read[] = []

  constructor(plan: TablePlan, kind: DatabaseKind) {
    this.#plan = plan
    this.#kind = kind
  }

  list(shape: ListShape): Statement {
    const { columns, table } = this.#plan
    const cursors = shape.sort.flatMap(({ column }, index) =>
      isConverted(this.#plan.types[column]!, this.#kind) ? `${this.#raw(column)} as ${quote(cursorAlias(index))}` : [],
    )
    const selected = [...columns.map((name) => this.#select(name)), ...cursors].join(', ')
    const conditions = this.#listConditions(shape)
    if (shape.after !== undefined) conditions.push(this.#after(shape.sort, shape.after))
    const order = shape.sort.map((term) => this.#order(term)).join(', ')
    const limit = shape.rows === undefined ? this.#add(({ rows }) => rows) : String(shape.rows)
    const where = joinConditions(conditions)
    return this.#end(
      `${this.#mark(shape.isScan)}${this.#limitBytes()}select ${selected} from ${quote(table)}${where} order by ${order} limit ${limit}`,
    )
  }

  count(shape: ListShape): Statement {
    const where = joinConditions(this.#listConditions(shape))
    return this.#end(
      `${this.#mark(true)}select count(*) as ${quote(countAlias)} from ${quote(this.#plan.table)}${where}`,
    )
  }

  read(isOwned: boolean): Statement {
    const { table } = this.#plan
    const where = this.#rowCondition({ isOwned })
    return this.#end(`${this.#mark(this.#plan.scans === true)}select ${this.#answer()} from ${quote(table)}${where}`)
  }

  /** Finds out whether a row exists for the caller. */
  exists(isOwned: boolean): Statement {
    return this.#end(`select 1 as found from ${quote(this.#plan.table)}${this.#rowCondition({ isOwned })}`)
  }

  insert(written: readonly string[]): Statement {
    const { table, owner, version, set } = this.#plan
    const columns = [...written, ...Object.keys(set)]
    const values = [
      ...written.map((name) => this.#bindBody(name)),
      ...Object.entries(set).map(([name, source]) => this.#bindSource(name, source)),
    ]
    if (owner !== undefined) {
      columns.push(owner.column)
      values.push(this.#bindSource(owner.column, { from: 'user' }))
    }
    if (version !== undefined) {
      columns.push(version.column)
      values.push('1')
    }
    const row =
      columns.length === 0 ? 'default values' : `(${columns.map(quote).join(', ')}) values (${values.join(', ')})`
    return this.#end(`insert into ${quote(table)} ${row} returning ${this.#answer()}`)
  }

  update(written: readonly string[], condition: RowCondition): Statement {
    const { table, version, set } = this.#plan
    const sets = [
      ...written.map((name) => `${quote(name)} = ${this.#bindBody(name)}`),
      ...Object.entries(set).map(([name, source]) => `${quote(name)} = ${this.#bindSource(name, source)}`),
    ]
    if (version !== undefined) sets.push(`${quote(version.column)} = ${quote(version.column)} + 1`)
    const where = this.#rowCondition(condition)
    return this.#end(`update ${quote(table)} set ${sets.join(', ')}${where} returning ${this.#answer()}`)
  }

  delete(condition: RowCondition): Statement {
    const { table } = this.#plan
    return this.#end(`delete from ${quote(table)}${this.#rowCondition(condition)} returning 1 as found`)
  }

  #end(text: string): Statement {
    const values = this.#values
    this.#values = []
    return { text, values }
  }

  /** Adds a parameter. @returns its placeholder */
  #add(read: Read): string {
    this.#values.push(read)
    return `${this.#kind === 'sqlite' ? '?' : '$'}${this.#values.length}`
  }

  #bindOf(name: string): Bind {
    const known = this.#binds.get(name)
    if (known !== undefined) return known
    const bind = makeBind(name, this.#plan.types[name]!, this.#kind)
    this.#binds.set(name, bind)
    return bind
  }

  #bindBody(name: string): string {
    const bind = this.#bindOf(name)
    // A column that allows null and has no default may be missing.
    return this.#add(({ body }) => (Object.hasOwn(body, name) ? bind(body[name]) : null))
  }

  #bindSource(name: string, source: Source): string {
    const bind = this.#bindOf(name)
    const isDate = this.#plan.types[name]!.type === 'date'
    switch (source.from) {
      case 'constant': {
        const value = bind(source.value)
        return this.#add(() => value)
      }
      case 'now':
        return this.#add(({ now }) => bind(isDate ? now.slice(0, 10) : now))
      case 'user':
        return this.#add(({ userId }) => bind(userId))
      default:
        return this.#add(({ params }) => bind(params[source.name]))
    }
  }

  /** Makes SQLite run a query in a thread. */
  #mark(isScan: boolean): string {
    return isScan && this.#kind === 'sqlite' ? '/* scan */ ' : ''
  }

  /** Makes the driver stop after so many bytes of rows. */
  #limitBytes(): string {
    const { columns, types, list } = this.#plan
    const isLimited = columns.some((name) => ['text', 'json'].includes(types[name]!.type))
    return isLimited ? limitBytes(list?.limit.bytes ?? defaultPageBytes) : ''
  }

  /** A column of a response. A text in a JSON column of SQLite that is not JSON is sent as a string. */
  #select(name: string): string {
    const column = quote(name)
    const { types, jsonAsText } = this.#plan
    if (!jsonAsText || types[name]!.type !== 'json') return column
    if (this.#kind === 'postgresql') return `${column}::text as ${column}`
    const text = `cast(${column} as text)`
    return `case when ${column} is null then null when json_valid(${text}) then ${text} else json_quote(${text}) end as ${column}`
  }

  #answer(): string {
    const { columns, version } = this.#plan
    const selected = columns.map((name) => this.#select(name))
    if (version !== undefined) selected.push(`${quote(version.column)} as ${quote(versionAlias)}`)
    return selected.join(', ')
  }

  #conditions(isOwned: boolean): string[] {
    const { where, owner } = this.#plan
    const conditions = Object.entries(where).map(([name, source]) =>
      source.from === 'constant' && source.value === null
        ? `${quote(name)} is null`
        : `${quote(name)} = ${this.#bindSource(name, source)}`,
    )
    if (owner !== undefined && isOwned)
      conditions.push(`${quote(owner.column)} = ${this.#bindSource(owner.column, { from: 'user' })}`)
    return conditions
  }

  #rowCondition({ isOwned, versions }: RowCondition): string {
    const conditions = this.#plan.key.map(
      (name) => `${quote(name)} = ${this.#bindSource(name, { from: 'params', name })}`,
    )
    conditions.push(...this.#conditions(isOwned))
    const version = this.#plan.version?.column
    if (version !== undefined && versions === 'one')
      conditions.push(`${quote(version)} = ${this.#add((input) => input.versions![0])}`)
    if (version !== undefined && versions === 'several')
      conditions.push(this.#inList(version, (input) => input.versions!))
    return joinConditions(conditions)
  }

  #inList(name: string, read: (input: Input) => readonly unknown[]): string {
    const parameter = this.#add((input) => bindList(read(input), this.#kind))
    return this.#kind === 'sqlite'
      ? `${quote(name)} in (select value from json_each(${parameter}))`
      : `${quote(name)} = any(${parameter})`
  }

  #listConditions({ isOwned, filters }: ListShape): string[] {
    return [...this.#conditions(isOwned), ...filters.map((filter) => this.#filter(filter))]
  }

  #filter({ column, operator, isList, isNull }: UsedFilter): string {
    const name = nameFilter(column, operator)
    const bind = this.#bindOf(column)
    const one = quote(column)
    switch (operator) {
      case 'null':
        return `${one} is ${isNull ? '' : 'not '}null`
      case 'contains': {
        const parameter = this.#add(({ query }) => query[name])
        return this.#kind === 'sqlite'
          ? `instr(${one}, ${parameter}) > 0`
          : `strpos(${one} collate "C", ${parameter}) > 0`
      }
      case 'eq':
        if (isList) return this.#inList(column, ({ query }) => [query[name]].flat().map(bind))
        return `${one} = ${this.#add(({ query }) => bind([query[name]].flat()[0]))}`
      default:
        return `${one} ${comparisons[operator]} ${this.#add(({ query }) => bind(query[name]))}`
    }
  }

  /** Null is the largest value. PostgreSQL does that itself. */
  #order({ column, descending }: SortTerm): string {
    const direction = descending ? `${quote(column)} desc` : quote(column)
    if (this.#kind === 'postgresql' || !this.#isNullable(column)) return direction
    return `${direction} nulls ${descending ? 'first' : 'last'}`
  }

  #isNullable(column: string): boolean {
    return this.#plan.types[column]!.null === true
  }

  /** Reads a value as the database has it. On SQLite an expression has no declared type, so the driver does not convert it. */
  #raw(column: string): string {
    return this.#kind === 'sqlite' ? `+${quote(column)}` : `${quote(column)}::text`
  }

  /** The rows after the last one of the previous page. */
  #after(sort: readonly SortTerm[], nulls: readonly boolean[]): string {
    const terms = sort.map(({ column, descending }, index) => ({
      name: quote(column),
      descending,
      isNullable: this.#isNullable(column),
      parameter: nulls[index] ? undefined : this.#add(({ after }) => after![index]),
    }))
    return writeKeyset(terms)
  }
}

const comparisons = { gt: '>', gte: '>=', lt: '<', lte: '<=' } as const

/** Which row a statement is about. */
export interface RowCondition {
  readonly isOwned: boolean
  /** How many versions If-Match allows; undefined for all. */
  readonly versions?: 'one' | 'several' | undefined
}

function joinConditions(conditions: readonly string[]): string {
  return conditions.length === 0 ? '' : ` where ${conditions.join(' and ')}`
}

/** Whether a driver reads a column's values inexactly: without microseconds, or as the nearest JavaScript number. */
export function isConverted({ type }: PlanColumn, kind: DatabaseKind): boolean {
  return type === 'timestamp' || type === (kind === 'sqlite' ? 'date' : 'number')
}
