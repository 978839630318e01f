import { hostname } from 'node:os'
import { isDeepStrictEqual } from 'node:util'
import { joinWords, makeUuid, variable, version, type Variables } from '../kit/index.ts'
import { listLiveServers, selectLiveServers, type LiveServer } from '../release/index.ts'
import type { Secrets, System, SystemTables } from '../store/index.ts'
import type { Host } from './host.ts'

export type { LiveServer } from '../release/index.ts'

const heartbeatMs = 5000

type ServerRow = SystemTables['waypost_server']

/** A change of a server's status. Omitted fields keep their values, except `error`. */
export interface ServerStatus {
  readonly state: ServerRow['state']
  /** The release that it serves. */
  readonly release?: string
  /** The release that it is starting or failed to start. A deployment recognises its own failure by it. */
  readonly wanted?: string | undefined
  readonly error?: string
}

/** This server's row in System, which tells deployments what the server serves. */
export interface ServerReport {
  update(status: ServerStatus): Promise<void>
  stop(): Promise<void>
}

export interface ReportOptions {
  /** A unique name; by default the host name. */
  readonly name?: string
  readonly intervalMs?: number
  /** Reads the current variables: a variable may be set after the start and then applies to the next release. */
  readonly readVariables?: (() => Variables) | undefined
}

export async function reportServer(
  { system, environment }: Host,
  { secrets, issuer }: { secrets: Pick<Secrets, 'keyIds'>; issuer: string },
  { name = hostname(), intervalMs = heartbeatMs, readVariables = () => environment }: ReportOptions = {},
): Promise<ServerReport> {
  const id = makeUuid()
  let current: Pick<ServerRow, 'state' | 'error' | 'release_id' | 'wanted_id'> = {
    state: 'starting',
    error: null,
    release_id: null,
    wanted_id: null,
  }
  let names = nameVariables(environment)
  const refreshNames = () => {
    try {
      names = nameVariables(readVariables())
    } catch {} // unreadable variables are reported when a release needs them
    return names
  }
  const insert = () => {
    const times = { started_at: system.now(), heartbeat_at: system.now(), state_at: system.now() }
    const has = { variables: names, secret_ids: secrets.keyIds.join(' ') }
    const row = { id, name, version, issuer, ...has, ...current, ...times }
    return system.db.insertInto('waypost_server').values(row).execute()
  }
  // A missing row was deleted because the server seemed to have crashed, or is not in a backup that was restored.
  const write = async (more: object = {}) => {
    const own = system.db.updateTable('waypost_server').where('id', '=', id)
    const set = own.set({ ...current, ...more, variables: refreshNames(), heartbeat_at: system.now() })
    const { numUpdatedRows } = await set.executeTakeFirstOrThrow()
    if (numUpdatedRows === 0n && !isStopped) await insert()
  }
  let isStopped = false
  await insert()
  const timer = setInterval(() => void write().catch(() => undefined), intervalMs)
  timer.unref()

  return {
    async update({ state, release, wanted, error }) {
      const before = current
      current = {
        state,
        error: error ?? null,
        release_id: release ?? current.release_id,
        wanted_id: wanted ?? release ?? current.wanted_id,
      }
      await write(isDeepStrictEqual(before, current) ? {} : { state_at: system.now() })
    },
    async stop() {
      isStopped = true
      clearInterval(timer)
      const own = system.db.deleteFrom('waypost_server').where('id', '=', id)
      await own.execute().catch(() => undefined)
    },
  }
}

/** Returns the live servers by name. */
export async function listServers({ system }: Host): Promise<readonly LiveServer[]> {
  return listLiveServers(system)
}

/** Names a server by host and port, and by process id if several processes share the port. */
export function nameServer({ port, reusePort }: { readonly port: number; readonly reusePort: boolean }): string {
  return `${hostname()}:${port}${reusePort ? `/${process.pid}` : ''}`
}

/** Joins the names of servers for a sentence: "a, b and c". */
export function joinServerNames(servers: readonly Pick<LiveServer, 'name'>[]): string {
  return joinWords(servers.map(({ name }) => name))
}

/** Returns the names of the live servers whose newest secret is another one. */
export async function listServersWithoutSecret(system: System, keyId: string): Promise<readonly string[]> {
  const rows = await selectLiveServers(system).select(['name', 'secret_ids']).execute()
  return rows.filter((row) => row.secret_ids?.split(' ')[0] !== keyId).map(({ name }) => name)
}

/**
 * Returns the names of the variables that are set on this host, not in System, and that a project may declare.
 * Deployments use them to find missing variables.
 */
function nameVariables(variables: Variables): string {
  const isNameable = (name: string) => /^(?!WAYPOST_)[A-Za-z_][A-Za-z0-9_]*$/.test(name)
  const names = Object.keys(variables).filter((name) => isNameable(name) && variable(variables, name) !== undefined)
  return names.toSorted().join(' ')
}
