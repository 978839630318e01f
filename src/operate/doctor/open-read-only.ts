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

/** Uses a read-only handle, because a writable one would switch a SQLite file to write-ahead logging. */
function hasSystemTables({ file }: SqliteDatabase): boolean {
  const handle = openSqlite({ file }).openHandle(true)
  try {
    return handle.prepare("select 1 from sqlite_master where name = 'waypost_schema'").get() !== undefined
  } finally {
    handle.close()
  }
}
