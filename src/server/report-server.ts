import { hostname } from 'node:os'
import { makeUuid, version } from '../kit/index.ts'
import type { Secrets, System } from '../store/index.ts'
import type { Host } from './host.ts'

const heartbeatMs = 5000
/** A server whose heartbeat is older than this is taken for gone. */
export const silentMs = 20_000

/** This server's row in System, by which a deployment sees who serves what. */
export interface ServerReport {
  say(news: { state: 'serving' | 'failed'; release?: string; error?: string }): Promise<void>
  stop(): Promise<void>
}

export async function reportServer({ system }: Host, { keyIds }: Pick<Secrets, 'keyIds'>): Promise<ServerReport> {
  const id = makeUuid()
  await system.db
    .insertInto('waypost_server')
    .values({
      id,
      name: hostname(),
      version,
      release_id: null,
      state: 'starting',
      error: null,
      secret_ids: keyIds.join(' '),
      started_at: system.now(),
      heartbeat_at: system.now(),
    })
    .execute()
  const update = (values: object) =>
    system.db
      .updateTable('waypost_server')
      .set({ ...values, heartbeat_at: system.now() })
      .where('id', '=', id)
      .execute()
  const timer = setInterval(() => void update({}).catch(() => undefined), heartbeatMs)
  timer.unref()

  return {
    async say({ state, release, error }) {
      await update({ state, error: error ?? null, ...(release === undefined ? {} : { release_id: release }) })
    },
    async stop() {
      clearInterval(timer)
      await system.db
        .deleteFrom('waypost_server')
        .where('id', '=', id)
        .execute()
        .catch(() => undefined)
    },
  }
}

/** The servers that are alive, by name. */
export async function listServers({
  system,
}: Host): Promise<readonly { name: string; release: string | null; state: string; error: string | null }[]> {
  return selectLiving(system).select(['name', 'release_id as release', 'state', 'error']).execute()
}

/** Names of the living servers whose newest secret is another one; each name once. */
export async function listServersWithout(system: System, keyId: string): Promise<readonly string[]> {
  const rows = await selectLiving(system).select(['name', 'secret_ids']).execute()
  return [...new Set(rows.filter((row) => row.secret_ids?.split(' ')[0] !== keyId).map((row) => row.name))]
}

function selectLiving(system: System) {
  return system.db
    .selectFrom('waypost_server')
    .where('heartbeat_at', '>', (column) => column(system.now(), '-', silentMs))
    .orderBy('name')
    .orderBy('started_at')
}
