import type { ActionPlan, ColumnSnapshot, ColumnType, TimeForm } from 'waypost'
import type { JsonLimits } from './config.ts'
import type { UsableForm } from './time-form.ts'

export const planFormat = 1

/** What one method does with the table. */
export type Operation = 'list' | 'insert' | 'read' | 'replace' | 'update' | 'delete'

export type ValueType = Exclude<ColumnType, 'other'>

/** A column as far as the schema of its values depends on it. */
export interface TypedColumn {
  readonly type: ValueType
  /** The maximum number of characters of a text. */
  readonly length?: number
  /** The values of an enum. */
  readonly values?: readonly string[]
  /** The digits of a decimal; undefined if their number is not limited. */
  readonly precision?: number
  readonly scale?: number
  /** The elements of an array. */
  readonly items?: TypedColumn
  /** The type of a literal in the database's own words. */
  readonly as?: string
}

/** A column as far as statements and values need to know it. */
export interface PlanColumn extends TypedColumn {
  readonly null?: true
  /** An insert may omit it. */
  readonly default?: true
  /** On SQLite, the form of times that another program stores. */
  readonly form?: TimeForm
  /** The form of new times, if the rows have several. Without it, the column is only read. */
  readonly written?: UsableForm
  /** The limits of a JSON column that differ from the defaults. */
  readonly limits?: JsonLimits
}

/** Where the value of a column comes from: a constant, the current time, the id of the caller, or a path parameter. */
export type Source =
  | { readonly from: 'constant'; readonly value: unknown }
  | { readonly from: 'now' }
  | { readonly from: 'user' }
  | { readonly from: 'params'; readonly name: string }

export type Sources = Readonly<Record<string, Source>>

export interface SortTerm {
  readonly column: string
  readonly descending: boolean
}

export type FilterOperator = 'eq' | 'not' | 'gt' | 'gte' | 'lt' | 'lte' | 'null' | 'contains'

/** A filter by a column of the row that is embedded. */
export interface EmbedFilter {
  readonly embed: string
  readonly column: string
}

/** How a list is searched. */
export interface SearchPlan {
  /** The text search configuration of PostgreSQL. */
  readonly configuration: string
  /** Which columns of the search of the table count, by letter; undefined for all. */
  readonly letters?: string
}

/** How a list is filtered, sorted and divided into pages. */
export interface ListPlan {
  /** The default order, without the columns that complete it. */
  readonly sort: readonly SortTerm[]
  readonly sortable: readonly string[]
  /** The columns that make an order unique. */
  readonly unique: readonly string[]
  readonly filters: Readonly<Record<string, readonly FilterOperator[]>>
  readonly embedded?: readonly EmbedFilter[]
  /** The query can have alternatives. */
  readonly any?: true
  readonly search?: SearchPlan
  readonly limit: {
    readonly default: number
    readonly max: number
    /** The bytes of a page, if they differ from the default. */
    readonly bytes?: number
  }
}

/** The owner of a row: the user in a column, or the owner of the row in another table that the column refers to. */
export interface OwnerPlan {
  readonly column: string
  /** Callers with this scope have access to the rows of all users. */
  readonly unless?: string
  readonly parent?: { readonly to: string; readonly rule: RowRule }
}

/** Which rows of another table a caller has access to. */
export interface RowRule {
  readonly table: string
  /** The schema of PostgreSQL with which the name of the table begins. */
  readonly schema?: string
  /** The columns of the conditions. */
  readonly types: Readonly<Record<string, PlanColumn>>
  readonly where: Sources
  readonly owner: OwnerPlan
}

/** A foreign key to rows of which a caller only has access to some. */
export interface ReferencePlan {
  readonly columns: readonly string[]
  readonly to: readonly string[]
  readonly rule: RowRule
  /** Path parameters name the row, so without access to it the whole resource does not exist. */
  readonly inPath?: true
}

/** Rows of another table that a row can contain. */
export interface EmbedPlan {
  /** The property of the row. */
  readonly name: string
  readonly table: string
  /** The schema of PostgreSQL with which the name of the table begins. */
  readonly schema?: string
  /** The column of this table, and the one of the other table, whose values are equal. */
  readonly own: string
  readonly other: string
  /** The columns of the other table that statements name. */
  readonly types: Readonly<Record<string, PlanColumn>>
  /** The columns of the embedded rows. */
  readonly columns: readonly string[]
  /** Which rows of the other table exist for a caller. */
  readonly where: Sources
  readonly owner?: OwnerPlan
  /** Set if several rows refer to one: their complete order, and how many a response has at most. */
  readonly many?: {
    readonly sort: readonly SortTerm[]
    readonly limit: number
    /** The bytes of rows after which they end, if their columns could have more. */
    readonly bytes?: number
    /** A POST can insert more of them with the row. */
    readonly written?: true
  }
  /** A caller needs one of these scopes; an empty list means any user. Undefined for all who may call the method. */
  readonly scopes?: readonly string[]
  /** All rows have it, without being asked for. */
  readonly always?: true
  /** No index finds the rows, so each row that contains them reads the whole table. */
  readonly scans?: true
}

/** What a POST does with a row that exists. */
export interface UpsertPlan {
  /** The columns of the unique constraint. */
  readonly columns: readonly string[]
  /** The columns that callers can change. */
  readonly write: readonly string[]
  /** Values of columns that a change sets itself. */
  readonly set: Sources
}

/** Rows of another table that a POST inserts with the row that they refer to. */
export interface ChildrenPlan {
  /** The property of the body that has them. */
  readonly name: string
  /** The column of this table that they refer to. */
  readonly own: string
  /** The insert of the other table, whose path parameter `parentParameter` has the value of that column. */
  readonly plan: TablePlan
  /** The columns in the response. */
  readonly columns: readonly string[]
  /** A caller needs one of these scopes; an empty list means any user. Undefined for all who may call the method. */
  readonly scopes?: readonly string[]
}

/** The path parameter that the children of a row get. Paths cannot contain it. */
export const parentParameter = '~parent'

/** What `make` needs to know about one method. */
export interface TablePlan extends ActionPlan {
  readonly format: typeof planFormat
  readonly operation: Operation
  readonly connection: string
  readonly table: string
  /** The schema of PostgreSQL with which the name of the table begins. */
  readonly schema?: string
  /** All columns that statements name. */
  readonly types: Readonly<Record<string, PlanColumn>>
  /** The columns in responses. */
  readonly columns: readonly string[]
  /** The conditions that all rows of the API meet. */
  readonly where: Sources
  readonly owner?: OwnerPlan
  /** The rows of other tables that the rows of a list or a read can contain. */
  readonly embeds?: readonly EmbedPlan[]
  /** The references that the method checks. */
  readonly references?: readonly ReferencePlan[]
  readonly version?: { readonly column: string; readonly required: boolean }
  /** The columns that identify a row, which are path parameters of the same name. */
  readonly key: readonly string[]
  /** The key columns by which a row that was written is read again, if all are in responses. */
  readonly identity?: readonly string[]
  /** The columns that the body of a request may have. */
  readonly write: readonly string[]
  /** Values of columns that the operation sets itself. */
  readonly set: Sources
  /** Columns of new rows that get the current time if the body does not have them: the default has another form. */
  readonly now?: readonly string[]
  readonly list?: ListPlan
  /** How many rows a request can insert. */
  readonly bulk?: number
  readonly upsert?: UpsertPlan
  readonly children?: readonly ChildrenPlan[]
  /** Callers can have the list as CSV. */
  readonly csv?: true
  /** No index serves the list, or the table is a view. */
  readonly scans?: true
  /** JSON columns are read as text and sent unchanged, because no declared schema looks inside. */
  readonly jsonAsText?: true
  /** The method declares its response, by whose schema rows with others in them are written. */
  readonly isDeclared?: true
  /** The column of the key that a new row's path ends with. */
  readonly location?: string
}

/** Returns the name of the query parameter of a filter. */
export function nameFilter(column: string, operator: FilterOperator): string {
  return operator === 'eq' ? column : `${column}.${operator}`
}

/** Returns the type of a column's values in the API; undefined if the API does not support the column. */
export function valueTypeOf(column: ColumnSnapshot): ValueType | undefined {
  if (column.type !== 'other') return column.type
  return isLossy(column) ? 'number' : undefined
}

/** Whether JSON numbers cannot represent all values of a column. */
export function isLossy({ type, as = '' }: ColumnSnapshot): boolean {
  return (type === 'number' || type === 'other') && /^(numeric|decimal)\b/i.test(as)
}

/** Returns a supported column as far as the schema of its values depends on it. */
export function toTyped(column: ColumnSnapshot): TypedColumn {
  const { length, values, precision, scale, items, as } = column
  const type = valueTypeOf(column)!
  return {
    type,
    ...(length !== undefined && { length }),
    ...(values !== undefined && { values }),
    ...(precision !== undefined && { precision }),
    ...(scale !== undefined && { scale }),
    ...(items !== undefined && { items: toTyped(items) }),
    ...(type === 'literal' && as !== undefined && { as }),
  }
}

/** Returns a supported column as statements and values need to know it. */
export function toPlanColumn(column: ColumnSnapshot): PlanColumn {
  const { form, written } = column
  const { length: _, ...typed } = toTyped(column)
  return {
    ...typed,
    ...(column.null && { null: true as const }),
    ...(form !== undefined && { form }),
    ...(written !== undefined && { written }),
  }
}
