import type { DatabaseKind } from 'waypost'
import type { PlanColumn, Source, TablePlan } from './plan.ts'
import { writeCompared } from './time-form.ts'
import { makeBind, type Bind, type BindUse } from './values.ts'

/** Rows as the values of parameters, and how many they are. */
export interface RowsInput {
  readonly texts: readonly string[]
  readonly length: number
}

/** What the values of a statement come from. */
export interface Input {
  readonly params: Readonly<Record<string, unknown>>
  readonly query: Readonly<Record<string, unknown>>
  readonly body: Readonly<Record<string, unknown>>
  readonly userId: string | undefined
  /** ISO text. */
  readonly now: string
  /** The values of the alternatives in the query. */
  readonly alternatives?: readonly unknown[]
  /** The rows of a request that inserts several. */
  readonly list?: RowsInput
  /** What is searched, in the language of the database. */
  readonly search?: string | undefined
  /** The number of rows to read. */
  readonly rows?: number
  /** The values of the sort columns in the last row of the previous page. */
  readonly after?: readonly unknown[]
  /** The versions that If-Match allows. */
  readonly versions?: readonly bigint[]
  /** The row that was written, by the columns of its key. */
  readonly identity?: Readonly<Record<string, unknown>>
}

export type Read = (input: Input) => unknown

/** A statement whose text is always the same, and the values of its parameters. */
export interface Statement {
  readonly text: string
  readonly values: readonly Read[]
  /** Whether callers choose any of the values. */
  readonly isFromCaller: boolean
}

/** The columns of results that are not columns of the table begin with this. Table columns are never read by these names. */
export const extraPrefix = '~'

export function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

interface TableName {
  readonly table: string
  readonly schema?: string | undefined
}

/** Returns the table of a plan or a rule. */
export function quoteTable({ table, schema }: TableName): string {
  return schema === undefined ? quote(table) : `${quote(schema)}.${quote(table.slice(schema.length + 1))}`
}

/** Returns the table of a statement, whose columns are those of `quote(table)`. */
export function writeFrom(name: TableName): string {
  return name.schema === undefined ? quote(name.table) : `${quoteTable(name)} as ${quote(name.table)}`
}

/** The values of the statement that is being written, in the order of its placeholders. */
export class StatementValues {
  readonly #plan: TablePlan
  readonly #kind: DatabaseKind
  readonly #binds = new Map<string, Bind>()
  #values: Read[] = []
  #isFromCaller = false
  #aliases = 0
  /** Returns a column of the rows that the statement inserts; undefined if it inserts the body. */
  bodyColumn: ((name: string) => string) | undefined

  constructor(plan: TablePlan, kind: DatabaseKind) {
    this.#plan = plan
    this.#kind = kind
  }

  /** Returns the statement with its values, and begins the next one. */
  end(text: string): Statement {
    const values = this.#values
    const isFromCaller = this.#isFromCaller
    this.#values = []
    this.#isFromCaller = false
    this.#aliases = 0
    this.bodyColumn = undefined
    return { text, values, isFromCaller }
  }

  /** Adds a parameter with a value of the caller. @returns its placeholder */
  add(read: Read): string {
    this.#isFromCaller = true
    return this.addOwn(read)
  }

  /** Adds a parameter with a value that is not the caller's. @returns its placeholder */
  addOwn(read: Read): string {
    this.#values.push(read)
    return `${this.#kind === 'sqlite' ? '?' : '$'}${this.#values.length}`
  }

  /** Returns what converts values for a column. */
  bindOf(name: string, use: BindUse = 'compare'): Bind {
    const key = `${use} ${name}`
    const known = this.#binds.get(key)
    if (known !== undefined) return known
    const bind = makeBind(name, this.#plan.types[name]!, { kind: this.#kind, use })
    this.#binds.set(key, bind)
    return bind
  }

  /** Returns what converts values for a column of another table. */
  bindOther(name: string, column: PlanColumn): Bind {
    return makeBind(name, column, { kind: this.#kind })
  }

  /** Adds the value of a property of the body. @returns its placeholder, or the column of the rows in the body */
  bindBody(name: string): string {
    if (this.bodyColumn !== undefined) return this.bodyColumn(name)
    const bind = this.bindOf(name, 'store')
    // A column that allows null and has no default may be missing.
    return this.add(({ body }) => (Object.hasOwn(body, name) ? bind(body[name]) : null))
  }

  /** Adds a value that is stored. @returns its placeholder */
  bindSet(name: string, source: Source): string {
    const hasForm = this.#plan.types[name]!.form !== undefined
    return this.bindSource(name, source, { use: hasForm ? 'store' : 'compare' })
  }

  /** Adds the value of a key column of the row that was written. @returns its placeholder */
  bindIdentity(name: string): string {
    const bind = this.bindOf(name)
    return this.addOwn(({ identity }) => bind(identity![name]))
  }

  /** Adds a value that a column is compared with. @returns its placeholder */
  bindSource(name: string, source: Source, { column, use }: SourceUse = {}): string {
    const bind = column === undefined ? this.bindOf(name, use) : makeBind(name, column, { kind: this.#kind })
    const { type, form } = column ?? this.#plan.types[name]!
    switch (source.from) {
      case 'constant': {
        const value = bind(source.value)
        return this.addOwn(() => value)
      }
      case 'now':
        if (type === 'timestamp' && form === undefined) return this.addOwn(({ now }) => now)
        return this.addOwn(({ now }) => bind(type === 'date' ? now.slice(0, 10) : now))
      case 'user':
        return this.addOwn(({ userId }) => bind(userId))
      default:
        return this.add(({ params }) => bind(params[source.name]))
    }
  }

  /** The expression by which a column is compared and sorted. */
  compared(name: string, of = this.#plan.types[name]!, column = quote(name)): string {
    return this.#kind === 'postgresql' ? column : writeCompared(of, column)
  }

  /** Returns a name of a table for a part of the statement. */
  nextAlias(): string {
    this.#aliases += 1
    return quote(`${extraPrefix}${this.#aliases}`)
  }
}

interface SourceUse {
  /** The column of another table. */
  readonly column?: PlanColumn
  readonly use?: BindUse
}
