import { hostname } from 'node:os'
import { isDeepStrictEqual } from 'node:util'
import { makeUuid, variable, version, type Variables } from '../kit/index.ts'
import { listLiveServers, selectLivingServers, type LiveServer } from '../release/index.ts'
import type { Secrets, System, SystemTables } from '../store/index.ts'
import type { Host } from './host.ts'

export type { LiveServer } from '../release/index.ts'

const heartbeatMs = 5000

type ServerRow = SystemTables['waypost_server']

/** What a server says of itself; what is left out stays as it was, but for the error. */
export interface ServerNews {
  readonly state: ServerRow['state']
  /** The release that it serves. */
  readonly release?: string
  /** The release that it is bringing up, or that did not come up: by it a deployment knows its own failure. */
  readonly wanted?: string | undefined
  readonly error?: string
}

/** This server's row in System, by which a deployment sees who serves what. */
export interface ServerReport {
  say(news: ServerNews): Promise<void>
  stop(): Promise<void>
}

export interface ReportOptions {
  /** Other than that of any other server; the host's by default. */
  readonly name?: string
  readonly everyMs?: number
  /** Reads what is set now: a variable may be set since, and counts from the next release on. */
  readonly readVariables?: (() => Variables) | undefined
}

export async function reportServer(
  { system, variables }: Host,
  { secrets, issuer }: { secrets: Pick<Secrets, 'keyIds'>; issuer: string },
  { name = hostname(), everyMs = heartbeatMs, readVariables = () => variables }: ReportOptions = {},
): Promise<ServerReport> {
  const id = makeUuid()
  let known: Pick<ServerRow, 'state' | 'error' | 'release_id' | 'wanted_id'> = {
    state: 'starting',
    error: null,
    release_id: null,
    wanted_id: null,
  }
  let names = nameVariables(variables)
  const nameAgain = () => {
    try {
      names = nameVariables(readVariables())
    } catch {} // what cannot be read is said when a release needs it
    return names
  }
  const insert = () => {
    const times = { started_at: system.now(), heartbeat_at: system.now(), state_at: system.now() }
    const has = { variables: names, secret_ids: secrets.keyIds.join(' ') }
    const row = { id, name, version, issuer, ...has, ...known, ...times }
    return system.db.insertInto('waypost_server').values(row).execute()
  }
  // A row that is gone was in no backup, when one was restored, or was taken for that of a server that had crashed.
  const update = async (more: object = {}) => {
    const own = system.db.updateTable('waypost_server').where('id', '=', id)
    const set = own.set({ ...known, ...more, variables: nameAgain(), heartbeat_at: system.now() })
    const { numUpdatedRows } = await set.executeTakeFirstOrThrow()
    if (numUpdatedRows === 0n && !isStopped) await insert()
  }
  let isStopped = false
  await insert()
  const timer = setInterval(() => void update().catch(() => undefined), everyMs)
  timer.unref()

  return {
    async say({ state, release, wanted, error }) {
      const before = known
      known = {
        state,
        error: error ?? null,
        release_id: release ?? known.release_id,
        wanted_id: wanted ?? release ?? known.wanted_id,
      }
      await update(isDeepStrictEqual(before, known) ? {} : { state_at: system.now() })
    },
    async stop() {
      isStopped = true
      clearInterval(timer)
      const own = system.db.deleteFrom('waypost_server').where('id', '=', id)
      await own.execute().catch(() => undefined)
    },
  }
}

/** The servers that are alive, by name. */
export async function listServers({ system }: Host): Promise<readonly LiveServer[]> {
  return listLiveServers(system)
}

/** What a server is called: by its host and port, and by its process where several share the port. */
export function nameServer({ port, reusePort }: { readonly port: number; readonly reusePort: boolean }): string {
  return `${hostname()}:${port}${reusePort ? `/${process.pid}` : ''}`
}

/** Names of servers in a sentence: "a, b and c". */
export function nameServers(servers: readonly Pick<LiveServer, 'name'>[]): string {
  const names = servers.map(({ name }) => name)
  return names.length < 2 ? names.join() : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}

/** Names of the living servers whose newest secret is another one. */
export async function listServersWithout(system: System, keyId: string): Promise<readonly string[]> {
  const rows = await selectLivingServers(system).select(['name', 'secret_ids']).execute()
  return rows.filter((row) => row.secret_ids?.split(' ')[0] !== keyId).map(({ name }) => name)
}

/** What is set here, less what no project can name: by it a deployment knows what its release would lack. Names only. */
function nameVariables(variables: Variables): string {
  const isNameable = (name: string) => /^(?!WAYPOST_)[A-Za-z_][A-Za-z0-9_]*$/.test(name)
  const names = Object.keys(variables).filter((name) => isNameable(name) && variable(variables, name) !== undefined)
  return names.toSorted().join(' ')
}
