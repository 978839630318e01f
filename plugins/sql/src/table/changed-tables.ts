import type { Context } from 'waypost'

/** Tables, columns, schemas, types and functions that do not exist. */
const postgresMissing: ReadonlySet<unknown> = new Set(['42P01', '42703', '3F000', '42704', '42883'])
/** SQLITE_ERROR has no other sign. */
const sqliteMissing = /^no such (table|column)|has no column named/

/**
 * Whether the database does not have what a statement names, because its tables were changed outside Waypost. Values that are
 * names of something have the same codes, without a position in the statement.
 */
function isMissing(error: unknown): boolean {
  const { code, errcode, position, where, message } = Object(error) as Readonly<Record<string, unknown>>
  if (code === 'ERR_SQLITE_ERROR') return errcode === 1 && sqliteMissing.test(String(message))
  return postgresMissing.has(code) && position !== undefined && where === undefined
}

/** Returns the problem if the tables of the database are not those for which the API was built. */
export function explainChanged(
  error: unknown,
  { table, connection }: { readonly table: string; readonly connection: string },
  context: Pick<Context, 'problem' | 'log'>,
): Error | undefined {
  if (!isMissing(error)) return undefined
  context.log.error(
    { err: error, table, connection },
    `the tables of the database differ from migrations/${connection}/tables.json: restore them, or run waypost migrate --connection ${connection} and deploy`,
  )
  return context.problem(503, 'The data is not available: its tables have changed')
}
