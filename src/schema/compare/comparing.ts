import type { Keywords, Placed } from '../placed.ts'

/** Something that the one schema takes and the other one does not. */
export interface Finding {
  /** For people: `entry[].title`, empty for the value itself. */
  readonly path: string
  /** The keyword of the schema that refuses it, or `new`, `gone`, `never`, `complex`. */
  readonly keyword: string
  /** What the one whose values are looked at says. */
  readonly sub?: unknown
  /** What the one that has to take them says. */
  readonly sup?: unknown
}

/** One comparison: whether all that some schemas take together is taken by another one. */
export interface Comparing {
  /** The one to be taken is what is answered: a field that it does not declare any more is missed. */
  readonly isAnswer: boolean
  /** Values come as text and are coerced. */
  readonly isCoerced: boolean
  /** Finds what `sup` does not take of what all of `subs` take. */
  within(subs: readonly Placed[], sup: Placed, path: string): void
  /** The same, where `sup` is only a part of what has to take them. */
  withinPart(subs: readonly Placed[], sup: Placed, path: string): void
  /** Whether nothing is found by some work; what it found otherwise. */
  attempt(work: () => void): readonly Finding[]
  report(finding: Finding): void
  /** Remarks on something that breaks nobody. */
  note(finding: Finding): void
}

/** All that is known of the values that a list of schemas takes together, and one schema that has to take them. */
export interface Check {
  readonly comparing: Comparing
  readonly path: string
  /** The schemas, each an object, that a value has to fit all. */
  readonly subs: readonly (Placed & { readonly schema: Keywords })[]
  readonly sup: Placed & { readonly schema: Keywords }
  /** The types that a value can have. */
  readonly types: ReadonlySet<string>
  /** Every value that there can be, where they are listed. */
  readonly values: readonly unknown[] | undefined
}
