import type { DatabaseKind } from 'waypost'
import type { PlanColumn, TypedColumn } from './plan.ts'

export type Schema = Readonly<Record<string, unknown>>

/** Throws that a value cannot be stored. */
export type Reject = (expected: string) => never

export interface BindPlace {
  readonly column: PlanColumn
  readonly reject: Reject
  readonly kind: DatabaseKind
  /** Whether times keep their microseconds. */
  readonly hasMicroseconds: boolean
}

/** Values that are compared by equality can be sorted too. */
export type Comparison = 'none' | 'equal' | 'ordered'

/** What holds for the values of a type, wherever they are: bodies, parameters, filters, cursors, rows and constants. */
export interface ValueRules {
  /** The schema of a value in requests. */
  request(column: TypedColumn): Schema
  /** The schema of a value in responses, if it differs: it has no limits that other writers of the table may exceed. */
  response?(column: TypedColumn): Schema
  /** How values are compared, in filters and orders of lists: not at all, by equality, or by their order too. */
  comparison(column: TypedColumn): Comparison
  /** Whether a value may be so large that a page of a list is limited by its bytes. */
  readonly isLarge?: true
  /** Converts a value of a request for a statement; by default, it is bound as it is. */
  bind?(place: BindPlace): (value: unknown) => unknown
  /** Makes the value of a response from what the driver returns, which is not null; by default, it is the same. */
  read?(value: unknown, column: TypedColumn): unknown
  /** Whether a value of a response has the form that the schema of responses declares. */
  fits(value: unknown, column: TypedColumn): boolean
  /** Returns what a constant of a config must be instead; undefined if it is a value. By default, all are. */
  constant?(value: unknown, column: TypedColumn): string | undefined
}

export const byOrder = (): Comparison => 'ordered'
export const byEquality = (): Comparison => 'equal'
export const notCompared = (): Comparison => 'none'

export const isText = (pattern: RegExp) => (value: unknown) => typeof value === 'string' && pattern.test(value)
