import type { Keywords, ScopedSchema } from '../scoped-schema.ts'

/** A value that the first schema accepts and the second does not. */
export interface Finding {
  /** A readable path: `entry[].title`; empty for the value itself. */
  readonly path: string
  /** The keyword of the schema that rejects the value, or `new`, `gone`, `never`, `complex`. */
  readonly keyword: string
  /** The keyword's value in the schema whose values are checked. */
  readonly sub?: unknown
  /** The keyword's value in the schema that must accept them. */
  readonly sup?: unknown
}

/** Compares schemas: whether everything that all of some schemas accept is accepted by another one. */
export interface Comparator {
  /** Whether the values are responses: a field that is no longer declared is then missing. */
  readonly isAnswer: boolean
  /** Whether values arrive as text and are coerced. */
  readonly isCoerced: boolean
  /** Finds what all of `subs` accept and `sup` does not. */
  compare(subs: readonly ScopedSchema[], sup: ScopedSchema, path: string): void
  /** The same if `sup` is only a part of the schema that must accept the values. */
  comparePart(subs: readonly ScopedSchema[], sup: ScopedSchema, path: string): void
  /** Runs `work` and returns its findings without reporting them; empty if there are none. */
  attempt(work: () => void): readonly Finding[]
  report(finding: Finding): void
  /** Records a change that breaks no callers. */
  note(finding: Finding): void
}

/** What is known about the values that all of some schemas accept, and the schema that must accept them. */
export interface Check {
  readonly comparator: Comparator
  readonly path: string
  /** Object schemas that a value must all match. */
  readonly subs: readonly (ScopedSchema & { readonly schema: Keywords })[]
  readonly sup: ScopedSchema & { readonly schema: Keywords }
  /** The types that a value can have. */
  readonly types: ReadonlySet<string>
  /** All possible values, if they are listed. */
  readonly values: readonly unknown[] | undefined
}
