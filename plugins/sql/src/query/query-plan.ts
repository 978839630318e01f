import type { JsonLimits } from '../table/config.ts'

export const queryPlanFormat = 1

/** Where the value of a parameter comes from. */
export type QueryValue =
  | {
      readonly from: 'params' | 'query' | 'body'
      readonly name: string
      /** The schema allows any JSON, so all values are passed as JSON text, also strings and numbers. */
      readonly json?: true
      /** Limits of objects and arrays, and of all values with `json`, that differ from the defaults. */
      readonly limits?: JsonLimits
    }
  | { readonly from: 'user' | 'now' }

/** The plan of one method with `sql-query`. */
export interface QueryPlan {
  readonly format: typeof queryPlanFormat
  readonly connection: string
  /** Parts of the statement, and between them indexes of `values`. */
  readonly text: readonly (string | number)[]
  readonly values: readonly QueryValue[]
  readonly answer: 'rows' | 'row' | 'none'
  /** The columns that the schema of the response declares as numbers and not as text. */
  readonly numbers?: readonly string[]
  /** The statement is a query, so it can be a part of another one. */
  readonly isReading: boolean
  /** The database must not allow changes. */
  readonly isReadOnly: boolean
  /** The statement changes rows that must exist. */
  readonly isAboutExisting: boolean
}
