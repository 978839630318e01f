/** Data exceptions, and limits such as the size of an index entry. */
const postgresValueError = /^(22|54)[0-9A-Z]{3}$/
/** SQLITE_CONSTRAINT_DATATYPE, SQLITE_MISMATCH and SQLITE_TOOBIG. */
const sqliteValueErrors: ReadonlySet<unknown> = new Set([3091, 20, 18])

/** Whether a database says that a value is out of range or does not fit its type. */
export function isValueError(error: unknown): boolean {
  const { code, errcode } = Object(error) as { readonly code?: unknown; readonly errcode?: unknown }
  if (code === 'ERR_SQLITE_ERROR') return sqliteValueErrors.has(errcode)
  return typeof code === 'string' && (postgresValueError.test(code) || isWrittenWrong(error))
}

/** Syntax errors, and names that are invalid or of nothing. */
const writtenErrors: ReadonlySet<unknown> = new Set(['42601', '42602', '42622', '42704', '42883', '42P01', '3F000'])

/**
 * Whether PostgreSQL cannot read the text of a value, of a type such as `tsvector` or `regclass`. The errors of a statement
 * have the same codes, and a position in it; those of a function name it.
 */
function isWrittenWrong(error: unknown): boolean {
  const { code, position, internalPosition, where = '' } = error as Readonly<Record<string, string | undefined>>
  if (!writtenErrors.has(code) || internalPosition !== undefined) return false
  if (where.startsWith('invalid type name')) return true // with a position in that name
  return position === undefined && (where === '' || /^(unnamed )?portal .*parameter \$/.test(where))
}
