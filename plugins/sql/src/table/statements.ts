import { defaultPageBytes } from './config.ts'
import { writeKeyset } from './keyset.ts'
import {
  nameFilter,
  type FilterOperator,
  type OwnerPlan,
  type PlanColumn,
  type ReferencePlan,
  type RowRule,
  type SortTerm,
  type Source,
  type TablePlan,
} from './plan.ts'
import { writeCompared, writeRead } from './time-form.ts'
import { bindList, makeBind, type Bind, type BindUse, type DatabaseKind } from './values.ts'

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
  /** Whether callers choose any of the values. */
  readonly isFromCaller: boolean
}

/** The columns of results that are not columns of the table begin with this. Table columns are never read by these names. */
const extraPrefix = '~'
export const versionAlias = `${extraPrefix}version`
export const countAlias = `${extraPrefix}count`
export const digestAlias = `${extraPrefix}digest`
export const ruleAlias = `${extraPrefix}rule`
export const policyAlias = `${extraPrefix}policy`
export const cursorAlias = (index: number): string => `${extraPrefix}${index}`

/** Returns the beginning of a query whose rows the drivers of Waypost end after so many bytes; see `isCutOff`. */
export function limitBytes(bytes: number): string {
  return `/* at most ${bytes} bytes */ `
}

/** Those scopes of a caller, in alphabetical order, that give access to the rows of all users. */
export type Access = readonly string[]

/** Whether a caller only has access to rows of their own. */
export function isOwned({ unless }: OwnerPlan, access: Access): boolean {
  return unless === undefined || !access.includes(unless)
}

/** Reads a condition in a result. SQLite has no booleans. */
export function isTrue(value: unknown): boolean {
  return value === true || value === 1
}

/** Which of its forms a list has. Each form has a text of its own. */
export interface ListShape {
  readonly access: Access
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
  #isFromCaller = false
  #aliases = 0

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
    const limit = shape.rows === undefined ? this.#addOwn(({ rows }) => rows) : String(shape.rows)
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

  read(access: Access): Statement {
    const { table } = this.#plan
    const where = this.#rowCondition({ access })
    return this.#end(`${this.#mark(this.#plan.scans === true)}select ${this.#answer()} from ${quote(table)}${where}`)
  }

  /** Finds out whether a row exists for the caller, its version, and which of its new references do. */
  find({ access, written, references }: ChangeCondition): Statement {
    const { table, version } = this.#plan
    const selected = [
      `${version === undefined ? '1' : quote(version.column)} as ${quote(versionAlias)}`,
      ...references.map((one, index) => `${this.#reference(one, { written, access })} as ${quote(String(index))}`),
    ]
    return this.#end(`select ${selected.join(', ')} from ${quote(table)}${this.#rowCondition({ access })}`)
  }

  /** Finds out which of the rows that a new row refers to exist for the caller. */
  findReferences(references: readonly ReferencePlan[], written: readonly string[], access: Access): Statement {
    const found = references.map(
      (one, index) => `${this.#reference(one, { written, access, isNew: true })} as ${quote(String(index))}`,
    )
    return this.#end(`select ${found.join(', ')}`)
  }

  insert({ access, written, references }: ChangeCondition): Statement {
    const { table, owner, version, set } = this.#plan
    const now = (this.#plan.now ?? []).filter((name) => !written.includes(name))
    const columns = [...written, ...Object.keys(set), ...now]
    const values = [
      ...written.map((name) => this.#bindBody(name)),
      ...Object.entries(set).map(([name, source]) => this.#bindSet(name, source)),
      ...now.map((name) => this.#bindSet(name, { from: 'now' })),
    ]
    if (owner !== undefined && owner.parent === undefined) {
      columns.push(owner.column)
      values.push(this.#bindSource(owner.column, { from: 'user' }))
    }
    if (version !== undefined) {
      columns.push(version.column)
      values.push('1')
    }
    const conditions = references.map((one) => this.#reference(one, { written, access, isNew: true }))
    const selected = conditions.length === 0 ? `values (${values.join(', ')})` : `select ${values.join(', ')}`
    const row =
      columns.length === 0
        ? 'default values'
        : `(${columns.map(quote).join(', ')}) ${selected}${joinConditions(conditions)}`
    return this.#end(`insert into ${quote(table)} ${row} returning ${this.#answer()}`)
  }

  update({ written, references, ...condition }: ChangeCondition): Statement {
    const { table, version, set } = this.#plan
    const sets = [
      ...written.map((name) => `${quote(name)} = ${this.#bindBody(name)}`),
      ...Object.entries(set).map(([name, source]) => `${quote(name)} = ${this.#bindSet(name, source)}`),
    ]
    if (version !== undefined) sets.push(`${quote(version.column)} = ${quote(version.column)} + 1`)
    const { access } = condition
    const where = this.#rowCondition(
      condition,
      references.map((one) => () => this.#reference(one, { written, access })),
    )
    return this.#end(`update ${quote(table)} set ${sets.join(', ')}${where} returning ${this.#answer()}`)
  }

  /** @param isReplaced whether a rule of PostgreSQL replaces the statement, which then cannot return a row */
  delete(condition: RowCondition, isReplaced = false): Statement {
    const { table } = this.#plan
    const end = this.#kind === 'sqlite' || isReplaced ? '' : ' returning 1'
    return this.#end(`delete from ${quote(table)}${this.#rowCondition(condition)}${end}`)
  }

  /** Reads a digest of a row, to find out whether a rule of PostgreSQL has changed it. */
  digest(condition: RowCondition): Statement {
    const row = this.#nextAlias()
    const where = this.#rowCondition(condition)
    return this.#end(
      `select md5(cast(${row} as text)) as ${quote(digestAlias)} from ${quote(this.#plan.table)} as ${row}${where}`,
    )
  }

  /** Finds out whether a rule of PostgreSQL replaces `delete`, and whether policies restrict which rows may be changed. */
  findRefusals(): Statement {
    const name = `'${quote(this.#plan.table).replaceAll("'", "''")}'`
    const rules = `select 1 from pg_rewrite where ev_class = cast(${name} as regclass) and is_instead and ev_type = '4'`
    return this.#end(
      `select exists (${rules}) as ${quote(ruleAlias)}, row_security_active(${name}) as ${quote(policyAlias)}`,
    )
  }

  #end(text: string): Statement {
    const values = this.#values
    const isFromCaller = this.#isFromCaller
    this.#values = []
    this.#isFromCaller = false
    this.#aliases = 0
    return { text, values, isFromCaller }
  }

  /** Adds a parameter with a value of the caller. @returns its placeholder */
  #add(read: Read): string {
    this.#isFromCaller = true
    return this.#addOwn(read)
  }

  /** Adds a parameter with a value that is not the caller's. @returns its placeholder */
  #addOwn(read: Read): string {
    this.#values.push(read)
    return `${this.#kind === 'sqlite' ? '?' : '$'}${this.#values.length}`
  }

  #bindOf(name: string, use: BindUse = 'compare'): Bind {
    const key = `${use} ${name}`
    const known = this.#binds.get(key)
    if (known !== undefined) return known
    const bind = makeBind(name, this.#plan.types[name]!, { kind: this.#kind, use })
    this.#binds.set(key, bind)
    return bind
  }

  #bindBody(name: string): string {
    const bind = this.#bindOf(name, 'store')
    // A column that allows null and has no default may be missing.
    return this.#add(({ body }) => (Object.hasOwn(body, name) ? bind(body[name]) : null))
  }

  /** A value that is stored. */
  #bindSet(name: string, source: Source): string {
    const hasForm = this.#plan.types[name]!.form !== undefined
    return this.#bindSource(name, source, { use: hasForm ? 'store' : 'compare' })
  }

  #bindSource(name: string, source: Source, { column, use }: SourceUse = {}): string {
    const bind = column === undefined ? this.#bindOf(name, use) : makeBind(name, column, { kind: this.#kind })
    const isDate = (column ?? this.#plan.types[name]!).type === 'date'
    switch (source.from) {
      case 'constant': {
        const value = bind(source.value)
        return this.#addOwn(() => value)
      }
      case 'now':
        return this.#addOwn(({ now }) => bind(isDate ? now.slice(0, 10) : now))
      case 'user':
        return this.#addOwn(({ userId }) => bind(userId))
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
    const { form } = types[name]!
    const read = form === undefined || this.#kind === 'postgresql' ? undefined : writeRead(form, column)
    if (read !== undefined) return `${read} as ${column}`
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

  #conditions(access: Access, isList = false): string[] {
    const { where, owner, references = [] } = this.#plan
    const conditions = Object.entries(where).map(([name, source]) =>
      isNull(source) ? `${quote(name)} is null` : `${this.#compared(name)} = ${this.#bindSource(name, source)}`,
    )
    const parents = references.filter(({ inPath }) => inPath)
    conditions.push(...parents.map((one) => this.#reference(one, { written: [], access })))
    // The condition for the row that the path names says the same.
    const isKnown = parents.some(({ columns }) => columns.length === 1 && columns[0] === owner?.column)
    if (owner !== undefined && !isKnown)
      conditions.push(...this.#owned(`${quote(this.#plan.table)}.${quote(owner.column)}`, owner, { access, isList }))
    return conditions
  }

  /**
   * The condition that a row belongs to the caller. In lists of few of many rows, "exists" reads all of them. For one
   * row, or if the caller has access to all, "in" reads the whole other table on SQLite.
   */
  #owned(name: string, owner: OwnerPlan, { access, isList = false }: OwnedUse): readonly string[] {
    const { parent } = owner
    if (parent === undefined)
      return isOwned(owner, access) ? [`${name} = ${this.#addOwn(({ userId }) => userId ?? null)}`] : []
    const { to, rule } = parent
    const alias = this.#nextAlias()
    const conditions = this.#visible(rule, alias, access)
    if (conditions.length === 0) return []
    const [from, other] = [`${quote(rule.table)} as ${alias}`, `${alias}.${quote(to)}`]
    return isList && isOwned(owner, access)
      ? [`${name} in (select ${other} from ${from}${joinConditions(conditions)})`]
      : [`exists (select 1 from ${from}${joinConditions([`${other} = ${name}`, ...conditions])})`]
  }

  /** The conditions that the caller has access to a row of another table. */
  #visible({ types, where, owner }: RowRule, alias: string, access: Access): readonly string[] {
    const conditions = Object.entries(where).map(([name, source]) => {
      const column = `${alias}.${quote(name)}`
      const compared = this.#compared(name, types[name], column)
      return isNull(source)
        ? `${column} is null`
        : `${compared} = ${this.#bindSource(name, source, { column: types[name]! })}`
    })
    return [...conditions, ...this.#owned(`${alias}.${quote(owner.column)}`, owner, { access })]
  }

  /** The condition that the caller has access to the row that a reference refers to. */
  #reference({ columns, to, rule }: ReferencePlan, { written, access, isNew = false }: ReferenceUse): string {
    const alias = this.#nextAlias()
    const { table, types } = this.#plan
    const terms = columns.map((name, index) => {
      const other = `${alias}.${quote(to[index]!)}`
      const source = this.#sourceOf(name, isNew)
      if (written.includes(name)) return `${other} = ${this.#bindBody(name)}`
      if (source !== undefined) return `${other} = ${this.#bindSource(name, source)}`
      if (isNew) return '1 = 0' // the default of the column, which the statement does not know
      const own = `${quote(table)}.${quote(name)}`
      return types[name]?.null ? `(${own} is null or ${other} = ${own})` : `${other} = ${own}`
    })
    const conditions = [...terms, ...this.#visible(rule, alias, access)]
    return `exists (select 1 from ${quote(rule.table)} as ${alias}${joinConditions(conditions)})`
  }

  /** Returns where the value of a column comes from that the body does not have. */
  #sourceOf(name: string, isNew: boolean): Source | undefined {
    const { set, where, owner, key } = this.#plan
    if (Object.hasOwn(set, name)) return set[name]
    if (Object.hasOwn(where, name)) return where[name]
    if (owner?.column === name && owner.parent === undefined && (isNew || owner.unless === undefined))
      return { from: 'user' }
    return key.includes(name) ? { from: 'params', name } : undefined
  }

  /** The expression by which a column is compared and sorted. */
  #compared(name: string, { form } = this.#plan.types[name]!, column = quote(name)): string {
    return form === undefined || this.#kind === 'postgresql' ? column : writeCompared(form, column)
  }

  #nextAlias(): string {
    this.#aliases += 1
    return quote(`${extraPrefix}${this.#aliases}`)
  }

  #rowCondition({ access, versions }: RowCondition, more: readonly (() => string)[] = []): string {
    const conditions = this.#plan.key.map(
      (name) => `${this.#compared(name)} = ${this.#bindSource(name, { from: 'params', name })}`,
    )
    conditions.push(...this.#conditions(access), ...more.map((write) => write()))
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
      ? `${this.#compared(name)} in (select value from json_each(${parameter}))`
      : `${quote(name)} = any(${parameter})`
  }

  #listConditions({ access, filters }: ListShape): string[] {
    return [...this.#conditions(access, true), ...filters.map((filter) => this.#filter(filter))]
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
        return `${this.#compared(column)} = ${this.#add(({ query }) => bind([query[name]].flat()[0]))}`
      default:
        if (this.#plan.types[column]!.form !== undefined && this.#kind === 'sqlite')
          return this.#compareForms(column, operator)
        if (this.#kind === 'sqlite' && this.#plan.types[column]!.type === 'timestamp')
          return this.#compareTimes(one, operator, ({ query }) => bind(query[name]) as string)
        return `${one} ${comparisons[operator]} ${this.#add(({ query }) => bind(query[name]))}`
    }
  }

  /** Compares times in the form of another program. */
  #compareForms(column: string, operator: keyof typeof comparisons): string {
    const bind = this.#bindOf(column, operator === 'gt' || operator === 'lte' ? 'floor' : 'ceil')
    const name = nameFilter(column, operator)
    return `${this.#compared(column)} ${comparisons[operator]} ${this.#add(({ query }) => bind(query[name]))}`
  }

  /**
   * Compares times as SQLite stores them. As text, a time with microseconds is before the one with the same milliseconds:
   * `.123456Z` and then `.123Z`.
   */
  #compareTimes(column: string, operator: keyof typeof comparisons, read: (input: Input) => string): string {
    const add = (write: (time: ComparedTime) => string) => this.#add((input) => write(divideTime(read(input))))
    const isGreater = operator === 'gt' || operator === 'gte'
    const least = `${column} ${comparisons[operator]} ${add(({ least }) => least)}`
    const same = add(({ whole, isWhole }) => (isWhole && (operator === 'gte' || operator === 'lt') ? '' : whole))
    if (isGreater) return `${least} and ${column} <> ${same}`
    return `${column} <= ${add(({ whole }) => whole)} and (${least} or ${column} = ${same})`
  }

  /** Null is the largest value. PostgreSQL does that itself. */
  #order({ column, descending }: SortTerm): string {
    const compared = this.#compared(column)
    const direction = descending ? `${compared} desc` : compared
    if (this.#kind === 'postgresql' || !this.#isNullable(column)) return direction
    return `${direction} nulls ${descending ? 'first' : 'last'}`
  }

  #isNullable(column: string): boolean {
    return this.#plan.types[column]!.null === true
  }

  /** Reads a value as the database has it. On SQLite an expression has no declared type, so the driver does not convert it. */
  #raw(column: string): string {
    return this.#kind === 'sqlite' ? `+${this.#compared(column)}` : `${quote(column)}::text`
  }

  /** The rows after the last one of the previous page. */
  #after(sort: readonly SortTerm[], nulls: readonly boolean[]): string {
    const terms = sort.map(({ column, descending }, index) => ({
      name: this.#compared(column),
      descending,
      isNullable: this.#isNullable(column) || nulls[index]!,
      parameter: nulls[index] ? undefined : this.#add(({ after }) => after![index]),
    }))
    return writeKeyset(terms)
  }
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

/** Which row a statement is about. */
export interface RowCondition {
  readonly access: Access
  /** How many versions If-Match allows; undefined for all. */
  readonly versions?: 'one' | 'several' | undefined
}

/** Which row a statement changes, and what it writes. */
export interface ChangeCondition extends RowCondition {
  /** The columns that the body has. */
  readonly written: readonly string[]
  /** The references whose rows must exist for the caller. */
  readonly references: readonly ReferencePlan[]
}

interface SourceUse {
  /** The column of another table. */
  readonly column?: PlanColumn
  readonly use?: BindUse
}

interface OwnedUse {
  readonly access: Access
  readonly isList?: boolean
}

interface ReferenceUse {
  readonly written: readonly string[]
  readonly access: Access
  /** The row does not exist yet. */
  readonly isNew?: boolean
}

function isNull(source: Source): boolean {
  return source.from === 'constant' && source.value === null
}

function joinConditions(conditions: readonly string[]): string {
  return conditions.length === 0 ? '' : ` where ${conditions.join(' and ')}`
}

/** Whether a row does not contain a column's values as the database writes them: times, and numbers such as NaN. */
export function isConverted({ type }: PlanColumn, kind: DatabaseKind): boolean {
  return type === 'timestamp' || type === (kind === 'sqlite' ? 'date' : 'number')
}
