import type { ConnectionKinds, TableRequest } from '../../../build/index.ts'
import type { TablesSnapshot } from '../../../contract/index.ts'
import type { Host } from '../../../host/index.ts'
import { loadManifest, type ManifestMigration } from '../../../release/index.ts'
import { planMigrations } from '../../../store/index.ts'
import { listPublishedMigrations } from '../../publish/publications.ts'
import type { FileChange } from '../file-change.ts'
import type { DesignedTable, DesignRequest, DraftTables, PlannedMigration, PlannedTableApi } from '../draft-tables.ts'
import { parseMigrationPath } from '../table-planner.ts'
import { isExceeded, type DraftThread } from '../thread/draft-thread.ts'
import type { DraftVersions } from './draft-versions.ts'

interface TablesSource extends Pick<DraftVersions, 'readState'> {
  readonly thread: DraftThread
}

/** Plans changes of the tables of a server's draft. Which migrations have run is read first, for the thread that plans. */
export class SystemTables implements DraftTables {
  readonly #host: Host
  readonly #draft: TablesSource
  /** The migrations of each release, which never change. */
  readonly #known = new Map<string, readonly ManifestMigration[]>()

  constructor(host: Host, draft: TablesSource) {
    this.#host = host
    this.#draft = draft
  }

  async connections(): Promise<ConnectionKinds> {
    return this.#draft.thread.ask('connections', await this.#read())
  }

  async load(connection: string, table: string): Promise<DesignedTable | undefined> {
    return this.#draft.thread.ask('table', { ...(await this.#prepare([connection])), connection, table })
  }

  async plan(request: DesignRequest): Promise<PlannedMigration> {
    return this.#draft.thread.ask('planTable', { ...(await this.#prepare([request.connection])), request })
  }

  async planApi(request: TableRequest): Promise<PlannedTableApi> {
    return this.#draft.thread.ask('planTableApi', { ...(await this.#prepare([])), request })
  }

  async loadAfter(changes: readonly FileChange[]): Promise<Readonly<Record<string, TablesSnapshot>>> {
    const own = changes.filter(({ file }) => parseMigrationPath(file).connection !== undefined)
    if (own.length === 0) return {}
    return this.#draft.thread.ask('tablesAfter', { ...(await this.#prepare([])), changes: own })
  }

  async isFrozen(change: FileChange): Promise<boolean> {
    const { connection, name } = parseMigrationPath(change.file)
    if (connection === undefined || name === undefined || change.before === undefined) return false
    if (!(await this.#findRan(connection)).has(name)) return false
    try {
      return await this.#draft.thread.ask('isFrozen', { ...(await this.#prepare([connection])), change })
    } catch (error) {
      if (!isExceeded(error)) throw error
      return false // no text that ran takes as long
    }
  }

  async #read() {
    const { texts, rows } = await this.#draft.readState()
    return { texts, release: rows.active?.release }
  }

  async #prepare(connections: readonly string[]) {
    const found = connections.map(async (name) => [name, [...(await this.#findRan(name))]] as const)
    return { ...(await this.#read()), ran: Object.fromEntries(await Promise.all(found)), now: this.#host.clock.now() }
  }

  #findRan(connection: string): Promise<RanMigrations> {
    return connection === 'System' ? findRanInSystem(this.#host) : findRanElsewhere(this.#host, this.#known, connection)
  }
}

/** The names of migrations that have run, with the checksums of their texts; none if these are unknown. */
type RanMigrations = ReadonlyMap<string, readonly string[]>

async function findRanInSystem({ system }: Host): Promise<RanMigrations> {
  const { applied } = await planMigrations(system, [])
  return new Map(applied.map(({ name, checksum }) => [name, [checksum]]))
}

/** Opens no connection: the migrations of activated releases have run, and publications record the ones that they ran. */
async function findRanElsewhere(
  { system }: Host,
  known: Map<string, readonly ManifestMigration[]>,
  connection: string,
): Promise<RanMigrations> {
  const ran = new Map<string, string[]>()
  const releases = await system.db.selectFrom('waypost_release').select('id').execute()
  for (const { id } of releases) {
    const migrations = known.get(id) ?? (await loadManifest(system, id)).migrations
    known.set(id, migrations)
    for (const one of migrations)
      if (one.connection === connection) ran.set(one.name, [...(ran.get(one.name) ?? []), one.checksum])
  }
  for (const name of await listPublishedMigrations(system, connection)) if (!ran.has(name)) ran.set(name, [])
  return ran
}
