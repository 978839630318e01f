import type { TableSnapshot } from '../contract/index.ts'

/** A step that a database would refuse. */
export interface StepProblem {
  /** The position of the step. */
  readonly step: number
  /** The keys that lead to the part of the step. */
  readonly path: readonly string[]
  readonly message: string
  readonly hint?: string | undefined
}

export type Report = (path: readonly string[], message: string, hint?: string) => unknown

export interface StepContext {
  readonly tables: Map<string, TableSnapshot>
  readonly report: Report
  /** Reports a problem that a part which the snapshot lacks may resolve. */
  readonly missing: Report
  /** Whether the database is or may be SQLite. */
  readonly isSqlite: boolean
}

/** Returns the name that SQLite considers to be the same. */
export function findSame(name: string, names: Iterable<string>): string | undefined {
  const folded = name.toLowerCase()
  for (const one of names) if (one.toLowerCase() === folded) return one
  return undefined
}

export function hasList(lists: TableSnapshot['index'] = [], columns: readonly string[]): boolean {
  return lists.some((list) => isSameList(list, columns))
}

export function isSameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((name, index) => name === b[index])
}

export function showList(columns: readonly string[]): string {
  return `[${columns.join(', ')}]`
}
