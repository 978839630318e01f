import type { HttpMethod, WritableMap } from '../../definition/index.ts'

/** How a table becomes an API. */
export interface TableRequest {
  readonly connection: string
  readonly table: string
  /** The path of the list; by default named after the table. The path of a row adds the key to it. */
  readonly path?: string | undefined
  /** The scopes of the methods without access of their own; by default one that is named after the path. */
  readonly scopes?: readonly string[] | undefined
  /** By default all that the table allows. */
  readonly methods?: readonly TableMethod[] | undefined
  /** The column with the id of the user to whom a row belongs, or that refers to a row with an owner. */
  readonly owner?: string | undefined
  /** Columns that may refer to rows of all users. */
  readonly openParents?: readonly string[] | undefined
  /** DELETE sets a value instead of removing the row. */
  readonly softDelete?: SoftDelete | undefined
  /** The event that POST dispatches. */
  readonly event?: TableEvent | undefined
  /** Descriptions of scopes to add. */
  readonly newScopes?: Readonly<Record<string, string>> | undefined
}

export interface TableMethod {
  readonly method: HttpMethod
  /** Whether it is about the list or about one row; by default about both, as far as the method exists there. */
  readonly at?: 'list' | 'row' | undefined
  /** `public`, or the scopes of which a token needs one. */
  readonly access?: 'public' | readonly string[] | undefined
}

export interface SoftDelete {
  readonly column: string
  /** The value of rows that exist, and that of deleted ones; by default those that are usual for the type of the column. */
  readonly values?: readonly [existing: Value, deleted: Value] | undefined
}

type Value = string | number | boolean | null

export interface TableEvent {
  readonly name: string
  readonly description?: string | undefined
  /** Subscribers need one of these; by default those of POST, or a new scope if rows have an owner. */
  readonly scopes?: readonly string[] | undefined
  /** The schema of its data, which becomes a named schema. By default that of the row in the response of POST. */
  readonly schema?: WritableMap | undefined
}
