import { existsSync } from 'node:fs'
import { loadFacts, openSqlite, pendingSystemMigrations, type SqliteDatabase } from '../../store/index.ts'
import {
  hasSecretFile,
  nameTarget,
  openHost,
  secretFile,
  withSystemVariables,
  type Host,
  type OpenHostOptions,
} from '../../host/index.ts'
import type { Variables } from '../../kit/index.ts'
import { failure, type Finding } from './finding.ts'

export interface OpenResult {
  readonly finding: Finding
  /** Absent if no further checks are possible. */
  readonly host?: Host
}

/** Opens the System of a host without changing it, and reports its state. */
export async function openReadOnly({
  folder,
  variables,
}: Pick<OpenHostOptions, 'folder' | 'variables'>): Promise<OpenResult> {
  let host: Host | undefined
  try {
    host = await openHost({ folder, variables, unmigrated: true })
    const { system } = host
    const target = nameTarget(host)
    const isEmpty = system.kind === 'sqlite' && !hasSystemTables(system.database as SqliteDatabase)
    const pending = isEmpty ? undefined : await pendingSystemMigrations(system)
    if (pending?.length === 0)
      return { host, finding: { check: 'system', state: 'ok', message: `System ${target}, migrated` } }
    await host.close()
    const message = `System ${target} is missing ${pending === undefined ? 'the' : pending.length} tables of this version of Waypost`
    return { finding: { check: 'system', state: 'fail', message, next: 'Create them:', command: 'waypost migrate' } }
  } catch (error) {
    await host?.close()
    return { finding: failure('system', error) }
  }
}

/** Adds the variables in System, unless they cannot be decrypted, which the check of the secret reports. */
export async function withReadableVariables(host: Host): Promise<Host> {
  // Without this check, a missing file would be created.
  if (hasSecretFile(host, await loadFacts(host.system)) && !existsSync(secretFile(host.folder))) return host
  return withSystemVariables(host).catch(() => host)
}

/** The variables of a host, with those in System if it could be read. */
export interface SystemVariables {
  readonly variables: Variables
  /** The names in System; undefined if it could not be read. */
  readonly names: readonly string[] | undefined
  /** What was read, or why it was not. */
  readonly message: string
}

/** Reads the variables in System without changing it. Never throws. */
export async function readSystemVariables(
  options: Pick<OpenHostOptions, 'folder' | 'variables'>,
): Promise<SystemVariables> {
  const { host, finding } = await openReadOnly(options)
  const none = { variables: options.variables, names: undefined }
  if (host === undefined) return { ...none, message: finding.message }
  try {
    const rows = await host.system.db.selectFrom('waypost_variable').select('id').orderBy('id').execute()
    const own = await withReadableVariables(host)
    const names = rows.map(({ id }) => id)
    const message = `System ${nameTarget(host)}`
    if (names.some((name) => own.variables[name] === undefined))
      return { ...none, message: `${message} has variables that cannot be decrypted with the secret of this host` }
    return { variables: { ...own.variables }, names, message }
  } catch (error) {
    return { ...none, message: failure('system', error).message }
  } finally {
    await host.close()
  }
}

/** Uses a read-only handle, because a writable one would switch a SQLite file to write-ahead logging. */
function hasSystemTables({ file }: SqliteDatabase): boolean {
  const handle = openSqlite({ file }).openHandle(true)
  try {
    return handle.prepare("select 1 from sqlite_master where name = 'waypost_schema'").get() !== undefined
  } finally {
    handle.close()
  }
}
