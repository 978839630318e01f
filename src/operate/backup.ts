import path from 'node:path'
import { resolveSystemUrl, type OpenHostOptions } from '../host/index.ts'
import { variable } from '../kit/index.ts'
import { assertRestorable, backUpSqlite, hasSqliteTable, redactUrl, restoreSqlite } from '../store/index.ts'
import { errors } from './errors.ts'

export interface BackupOptions extends Pick<OpenHostOptions, 'folder' | 'variables'> {
  /** The backup. */
  readonly file: string
  /** Another SQLite file than that of System, such as that of a connection. */
  readonly database?: string | undefined
}

/**
 * Copies the SQLite file of System as it is at one moment, while servers may use it.
 * @returns the file that was copied
 * @throws WP_SERVER_BACKUP_POSTGRESQL, and the errors of `backUpSqlite`
 */
export async function backUpSystem(options: BackupOptions): Promise<string> {
  const database = resolveFile(options, (url) => `pg_dump --format=custom --file=${quote(options.file)} "$${url}"`)
  await backUpSqlite(database, path.resolve(options.folder, options.file))
  return database
}

export interface RestoreOptions extends BackupOptions {
  confirm(database: string): Promise<boolean>
}

/**
 * Replaces the content of the SQLite file of System by that of a backup, unless another process uses it.
 * @returns the file, and where the former one is if it was damaged; undefined if not confirmed
 * @throws WP_SERVER_BACKUP_POSTGRESQL, WP_SERVER_BACKUP_OTHER, and the errors of `restoreSqlite`
 */
export async function restoreSystem(
  options: RestoreOptions,
): Promise<{ readonly database: string; readonly damaged: string | undefined } | undefined> {
  const database = resolveFile(
    options,
    (url) => `pg_restore --clean --if-exists --no-owner --dbname="$${url}" ${quote(options.file)}`,
  )
  const file = path.resolve(options.folder, options.file)
  assertRestorable(file)
  if (options.database === undefined && !hasSqliteTable(file, 'waypost_schema'))
    throw errors.WP_SERVER_BACKUP_OTHER({ file })
  if (!(await options.confirm(database))) return undefined
  return { database, damaged: await restoreSqlite(file, database) }
}

/**
 * Checks the SQLite file of a System that was restored by copying it; does nothing for PostgreSQL.
 * @throws WP_STORE_LOG, WP_STORE_DAMAGED
 */
export function assertSystemRestored(options: Pick<OpenHostOptions, 'folder' | 'variables'>): void {
  const url = resolveSystemUrl(options)
  if (url.startsWith(scheme)) assertRestorable(url.slice(scheme.length))
}

const scheme = 'sqlite:'

function resolveFile(options: BackupOptions, commandOf: (variable: string) => string): string {
  const { folder, variables, database } = options
  if (database !== undefined) return path.resolve(folder, database)
  const url = resolveSystemUrl(options)
  if (url.startsWith(scheme)) return url.slice(scheme.length)
  // A pooler in transaction mode would not let pg_dump keep its snapshot.
  const isPooled = variable(variables, 'WAYPOST_SYSTEM_DIRECT_URL') !== undefined
  const command = commandOf(isPooled ? 'WAYPOST_SYSTEM_DIRECT_URL' : 'WAYPOST_SYSTEM_URL')
  throw errors.WP_SERVER_BACKUP_POSTGRESQL({ target: redactUrl(url), command })
}

function quote(file: string): string {
  return /^[\w@+=:,./-]+$/.test(file) ? file : `'${file.replaceAll("'", `'\\''`)}'`
}
