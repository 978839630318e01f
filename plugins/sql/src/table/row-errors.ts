import type { Reporting } from './run.ts'
import { isValueError } from './value-errors.ts'
import { InvalidValue } from './values.ts'

/** Where a row is in the body of a request, for example `[17]`. */
export type RowPlace = readonly (string | number)[]

/** By this, Waypost finds the place of the row that violates a constraint. */
const rowPlace = Symbol.for('waypost.row-place')

/** Adds the place of the row to an error, unless a part of it is the reason. */
export function placeError(error: unknown, place: RowPlace): unknown {
  if (error instanceof Error && !Object.hasOwn(error, rowPlace)) Object.assign(error, { [rowPlace]: place })
  return error
}

/** Returns a context whose problems name the row. That a row of the path does not exist concerns all rows. */
export function placeContext({ problem, log }: Reporting, place: RowPlace): Reporting {
  const at = ['body', ...place].join('/')
  return { problem: (status, detail) => problem(status, status === 404 ? detail : `${at}: ${detail}`), log }
}

/** A trigger, or the check of a reference, kept a row from being inserted. */
export class RowsMissing extends Error {}

/** Data exceptions, constraints, policies, limits, errors of triggers, and a row that an upsert would change twice. */
const postgresRowError = /^(21|22|23|44|54|P0)[0-9A-Z]{3}$/
/** SQLITE_CONSTRAINT, SQLITE_MISMATCH and SQLITE_TOOBIG. */
const sqliteRowErrors: ReadonlySet<number> = new Set([19, 20, 18])

/** Whether fewer rows could be inserted, as far as an error says. */
export function isErrorOfRow(error: unknown): boolean {
  if (error instanceof InvalidValue || error instanceof RowsMissing || isValueError(error)) return true
  const { code, errcode, routine } = Object(error) as Readonly<Record<'code' | 'errcode' | 'routine', unknown>>
  if (code === 'ERR_SQLITE_ERROR') return typeof errcode === 'number' && sqliteRowErrors.has(errcode & 0xff)
  if (typeof code !== 'string') return false
  return postgresRowError.test(code) || (code === '42501' && routine === 'ExecWithCheckOptions')
}

/** Whether PostgreSQL cannot run a statement, for example an insert within a query if the table has rules. */
export function isUnsupported(error: unknown): boolean {
  return (Object(error) as { readonly code?: unknown }).code === '0A000'
}

/** Whether PostgreSQL ended a statement because of others that waited for each other. */
export function isDeadlock(error: unknown): boolean {
  const { code } = Object(error) as { readonly code?: unknown }
  return code === '40P01' || code === '40001'
}
