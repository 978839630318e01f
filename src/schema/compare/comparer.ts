import type { Keywords, Placed } from '../placed.ts'

/** A difference between two schemas: something that `sub` accepts and `sup` rejects. */
export interface Finding {
  /** For display, for example `entry[].title`; empty for the value itself. */
  readonly path: string
  /** The schema keyword that rejects the value, or `new`, `gone`, `never`, `complex`. */
  readonly keyword: string
  /** The keyword's value in the schema whose values are checked. */
  readonly sub?: unknown
  /** The keyword's value in the schema that must accept them. */
  readonly sup?: unknown
}

/** Checks whether a schema accepts every value that all schemas of a list accept, and collects the findings. */
export interface Comparer {
  /** `sub` describes a response: a field that it no longer declares is a finding. */
  readonly isResponse: boolean
  /** Values arrive as text and are coerced, as in a query string. */
  readonly isCoerced: boolean
  /** Reports the values that all of `subs` accept and `sup` rejects. */
  compare(subs: readonly Placed[], sup: Placed, path: string): void
  /** Does the same when `sup` is only part of a schema, so undeclared fields are not noted. */
  comparePart(subs: readonly Placed[], sup: Placed, path: string): void
  /** Runs `work` and returns its findings instead of reporting them. If there are any, its notes are discarded. */
  attempt(work: () => void): readonly Finding[]
  report(finding: Finding): void
  /** Records a non-breaking difference. */
  note(finding: Finding): void
}

/** What is known about the values that all of `subs` accept, and the schema that must accept them. */
export interface Check {
  readonly comparer: Comparer
  readonly path: string
  /** Object schemas. Each value is valid for all of them. */
  readonly subs: readonly (Placed & { readonly schema: Keywords })[]
  readonly sup: Placed & { readonly schema: Keywords }
  /** The possible types of a value. */
  readonly types: ReadonlySet<string>
  /** All possible values, if they are listed. */
  readonly values: readonly unknown[] | undefined
}
