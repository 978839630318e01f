import type { DatabaseKind } from 'waypost'
import { hash } from 'node:crypto'
import type { PlanColumn } from './plan.ts'

/** The value of a sort column in the last row of a page, as the database writes it. */
export type CursorValue = string | number | boolean | Uint8Array | null

/** Returns a short digest of what a cursor belongs to: the method, its filters and its order. */
export function digestList(parts: readonly unknown[]): string {
  return hash('sha256', JSON.stringify(parts), 'base64url').slice(0, 16)
}

export function writeCursor(digest: string, values: readonly CursorValue[]): string {
  const written = values.map((value) => {
    if (value instanceof Uint8Array) return [Buffer.from(value).toString('base64')]
    return typeof value === 'number' && !Number.isFinite(value) ? String(value) : value
  })
  return Buffer.from(JSON.stringify([digest, ...written])).toString('base64url')
}

/** Numbers that databases can hold and JSON cannot. NaN remains a text, which only PostgreSQL has and reads. */
const numbersAsText: ReadonlyMap<unknown, CursorValue> = new Map<unknown, CursorValue>([
  ['Infinity', Infinity],
  ['-Infinity', -Infinity],
  ['NaN', 'NaN'],
])

/** The list that a cursor continues. */
export interface CursorList {
  readonly digest: string
  /** Those of the order. */
  readonly columns: readonly PlanColumn[]
  readonly kind: DatabaseKind
}

/**
 * Reads a cursor. Cursors are not signed: they only select where a list continues, and all its conditions are added to the
 * statement in any case.
 * @returns undefined if it is not a cursor of this list
 */
export function readCursor(text: string, { digest, columns, kind }: CursorList): readonly CursorValue[] | undefined {
  const [found, ...values] = parse(text)
  if (found !== digest || values.length !== columns.length) return undefined
  const read = values.map((value, index) => {
    if (Array.isArray(value) && typeof value[0] === 'string') return Buffer.from(value[0], 'base64')
    return columns[index]!.type === 'number' ? (numbersAsText.get(value) ?? value) : value
  })
  return read.every((value, index) => isPossible(value, columns[index]!, kind)) ? (read as CursorValue[]) : undefined
}

function parse(text: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString())
    return Array.isArray(value) ? value : []
  } catch {
    return []
  }
}

/** Whether a database can compare a value. On SQLite, a column may have values of every type, and null. */
function isPossible(value: unknown, { type }: PlanColumn, kind: DatabaseKind): boolean {
  if (typeof value === 'string') return !value.includes('\0') && value.isWellFormed()
  if (typeof value === 'boolean') return type === 'boolean'
  if (value instanceof Uint8Array) return kind === 'sqlite' // PostgreSQL would read the bytes as the binary form of the type
  return value === null || typeof value === 'number'
}
