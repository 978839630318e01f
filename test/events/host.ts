import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { version } from '../../src/kit/index.ts'
import { activateRelease, type Manifest } from '../../src/release/index.ts'
import { openHost, type Host } from '../../src/host/index.ts'
import { prepareTestHost } from '../../src/server/index.ts'
import { copySystem } from '../support/migrated.ts'
import { startPostgres } from '../support/postgres.ts'

/** The folder of a host whose development System has an active release. */
export interface TestHost {
  readonly host: Host
  readonly folder: string
  readonly variables: Readonly<Record<string, string>>
  /** Activates a release with these events and settings, and no route. */
  activate(parts: Pick<Partial<Manifest>, 'events' | 'listeners' | 'config'>): Promise<void>
  close(): Promise<void>
}

/**
 * @param given an empty database; a new one by default
 * @param more further variables
 */
export async function openTestHost(
  kind: 'sqlite' | 'postgresql',
  given?: string,
  more: Readonly<Record<string, string>> = {},
): Promise<TestHost> {
  const folder = await mkdtemp(path.join(tmpdir(), 'waypost-host-'))
  const server = kind === 'postgresql' && given === undefined ? await startPostgres() : undefined
  const url = given ?? (await server?.createSystem()) ?? `sqlite:${path.join(folder, 'system.db')}`
  const variables = { WAYPOST_SYSTEM_URL: url, WAYPOST_BASE_URL: 'http://localhost:3000', ...more }
  await copySystem(url, folder)
  const host = await openHost({ folder, variables, create: true, unmigrated: true })
  await prepareTestHost(host)
  return {
    host,
    folder,
    variables,
    async activate(parts) {
      await activateRelease(host.system, { manifest: { ...empty, ...parts }, artifacts: [] }, { by: 'test' })
    },
    async close() {
      await host.close()
      await server?.stop()
      await rm(folder, { recursive: true })
    },
  }
}

const empty: Manifest = {
  format: 2,
  waypost: version,
  routes: [],
  schemas: {},
  connections: {},
  events: {},
  scopes: {},
  cronjobs: {},
  rates: {},
  config: {},
  plugins: [],
  variables: {},
  migrations: [],
  artifacts: {},
}
