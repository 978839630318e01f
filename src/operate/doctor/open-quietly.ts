import { openSqlite, pendingSystemMigrations, type SqliteDatabase } from '../../store/index.ts'
import { nameTarget, type Host, openHost, type OpenHostOptions } from '../../host/index.ts'
import { failure, type Finding } from './finding.ts'

export interface Opened {
  readonly finding: Finding
  /** Absent where nothing more can be asked. */
  readonly host?: Host
}

/** Opens the System of a host without changing anything of it, and says in which state it is. */
export async function openQuietly({
  folder,
  variables,
}: Pick<OpenHostOptions, 'folder' | 'variables'>): Promise<Opened> {
  let host: Host | undefined
  try {
    host = await openHost({ folder, variables, unmigrated: true })
    const { system } = host
    const target = nameTarget(host)
    const isEmpty = system.kind === 'sqlite' && !holdsSystem(system.database as SqliteDatabase)
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

/** By a handle that cannot write: the first other one would make any SQLite file one with a write-ahead log. */
function holdsSystem({ file }: SqliteDatabase): boolean {
  const handle = openSqlite({ file }).openHandle(true)
  try {
    return handle.prepare("select 1 from sqlite_master where name = 'waypost_schema'").get() !== undefined
  } finally {
    handle.close()
  }
}
