import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import pino from 'pino'
import { openTestProject } from '../../../src/project/index.ts'
import type { StoredRelease } from '../../../src/release/index.ts'
import { errorSerializers, openHost, type Host } from '../../../src/host/index.ts'
import { serve, type ServeOptions, type ServingServer } from '../../../src/server/index.ts'
import { migrateSystem } from '../../../src/store/index.ts'
import { copySystem } from '../../support/migrated.ts'
import { startPostgres } from '../../support/postgres.ts'
import { actionFile, writeFiles, type Files } from '../../support/project-server.ts'

/** A System, a project deployed to it, and servers with folders of their own. */
export interface ServeSite extends AsyncDisposable {
  readonly host: Host
  readonly variables: Readonly<Record<string, string>>
  deploy(files: Files): Promise<StoredRelease>
  start(options?: Partial<ServeOptions>, more?: Readonly<Record<string, string>>): Promise<LoggedServer>
}

export interface LoggedServer extends ServingServer {
  /** Lines of its log, from level debug. */
  readonly logs: readonly LogLine[]
}

export interface LogLine {
  readonly level: number
  readonly msg: string
  readonly [field: string]: unknown
}

/** Opens a site with a new System on a kind of database. */
export async function openServeSiteOn(kind: 'sqlite' | 'postgresql'): Promise<ServeSite> {
  if (kind === 'sqlite') return openServeSite()
  const postgres = await startPostgres()
  const site = await openServeSite(await postgres.createSystem())
  return {
    ...site,
    async [Symbol.asyncDispose]() {
      await site[Symbol.asyncDispose]()
      await postgres.stop()
    },
  }
}

/** @param systemUrl a new SQLite file by default */
export async function openServeSite(systemUrl?: string): Promise<ServeSite> {
  const folder = await mkdtemp(path.join(tmpdir(), 'waypost-serve-'))
  const variables = {
    WAYPOST_SYSTEM_URL: systemUrl ?? `sqlite:${folder}/system.db`,
    WAYPOST_BASE_URL: 'https://api.example.com',
    WAYPOST_SECRET: 'a secret for a test of at least 32 characters',
    WAYPOST_STOP_DELAY: '0s',
    WAYPOST_PRESSURE_LIMIT: '1h', // the load of other tests must not matter
    HOST: '127.0.0.1',
  }
  await copySystem(variables.WAYPOST_SYSTEM_URL, folder)
  const host = await openHost({ folder, variables, create: true, unmigrated: true })
  await migrateSystem(host.system) // of the given database
  const servers: ServingServer[] = []
  return {
    host,
    variables,
    async deploy(files) {
      await writeFiles(folder, files)
      return (await (await openTestProject(folder)).install(host)).stored
    },
    async start(options = {}, more = {}) {
      const logs: LogLine[] = []
      const logger = pino(
        { level: 'debug', serializers: errorSerializers },
        { write: (line) => void logs.push(JSON.parse(line)) },
      )
      const own = await mkdtemp(path.join(folder, 'host-'))
      const given = { ...variables, ...more }
      const server = await serve({ folder: own, variables: given, port: 0, retryMs: 50, logger, ...options })
      servers.push(server)
      return { ...server, logs }
    },
    async [Symbol.asyncDispose]() {
      for (const server of servers) await server.close(true)
      await host.close()
      await rm(folder, { recursive: true })
    },
  }
}

const yml = `
routes:
  /version: { methods: { GET: { public: true, response: Version, action: src/version.ts } } }
schema:
  Version: { type: object, properties: { version: { type: string } } }
`

/** A project with one route that returns a text. */
export function versionFiles(text: string, { head = '', more = '' } = {}): Files {
  return { 'waypost.yml': yml + more, 'src/version.ts': actionFile(`return { version: '${text}' }`, head) }
}
