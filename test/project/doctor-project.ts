import type { DatabaseKind } from '../../src/contract/index.ts'
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtemp, readdir, readFile, realpath, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before } from 'node:test'
import type { Variables } from '../../src/kit/index.ts'
import { deployProject, doctor, migrateProject, type DoctorReport } from '../../src/project/index.ts'
import { openHost, type Host } from '../../src/host/index.ts'
import { writeFiles } from '../support/project-server.ts'

export const secret = 'Yv0mK2qfTzH8xWbN4uRc7LdJ1sGpE6aQ9iXo3hVtZ5k'

export const baseUrl = 'https://api.example.com'

export const migration = (name: string) => `export default {
  async up(db, type) { await db.schema.createTable('${name}').addColumn('id', type.id, (c) => c.primaryKey()).execute() },
  async down(db) { await db.schema.dropTable('${name}').execute() },
}
`

export const files = {
  'waypost.yml': `routes:
  /ping:
    methods:
      GET: { public: true, action: src/ping.ts, response: { type: object } }
event:
  pinged: { scopes: [ping] }
connection:
  Other: { class: postgresql, config: { url: "\${env.OTHER_URL}" } }
env:
  MOST: { type: integer, default: 3 }
  KEY: { secret: true, default: "" }
`,
  'src/ping.ts': 'export default class Ping { async handle() { return {} } }\n',
  'migrations/System/20261120-one.ts': migration('app_one'),
}

export type Check = DoctorReport['checks'][number]

/** Returns each check as a line. */
export function show({ checks }: DoctorReport): string[] {
  return checks.map(({ check, state, message }) => `${state} ${check}: ${message}`)
}

export function find({ checks }: DoctorReport, name: string): Check {
  const found = checks.find(({ check }) => check === name)
  assert.ok(found, `there is a check "${name}"`)
  return found
}

export async function makeFolder(content: Readonly<Record<string, string>>): Promise<string> {
  const folder = await realpath(await mkdtemp(path.join(tmpdir(), 'waypost-doctor-')))
  await writeFiles(folder, content)
  return folder
}

/** Returns all files of a folder with content and modification time, except SQLite's shared memory. */
export async function snapshot(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const all = entries
    .filter(({ name }) => !name.endsWith('-shm'))
    .map(async (entry): Promise<[string, string]> => {
      const file = path.join(entry.parentPath, entry.name)
      if (!entry.isFile()) return [path.relative(folder, file), 'no file']
      const hash = createHash('sha256').update(await readFile(file))
      return [path.relative(folder, file), `${hash.digest('hex')} ${(await stat(file)).mtimeMs}`]
    })
  return Object.fromEntries(await Promise.all(all))
}

/** Returns all rows of System's own tables. */
export async function dump({ system }: Host): Promise<unknown> {
  const tables = (await system.db.introspection.getTables()).filter(({ name }) => name.startsWith('waypost_'))
  const rows = tables.map(async ({ name }) => [
    name,
    await system.db
      .selectFrom(name as 'waypost_system')
      .selectAll()
      .execute(),
  ])
  return Object.fromEntries(await Promise.all(rows))
}

/** A project that is deployed, with a System of its own. */
export function useDeployedProject(kind: DatabaseKind, createDatabase: () => Promise<string>) {
  let folder: string
  let variables: Variables
  let host: Host
  const run = (over: Variables = {}, options = {}) =>
    doctor({ folder, variables: { ...variables, ...over }, ...options })

  before(async () => {
    folder = await makeFolder(files)
    variables = {
      WAYPOST_SYSTEM_URL: kind === 'sqlite' ? 'sqlite:live.db' : await createDatabase(),
      WAYPOST_SECRET: secret,
      WAYPOST_BASE_URL: baseUrl,
      OTHER_URL: 'postgresql://ann:other-password@localhost/other',
    }
    await migrateProject({ folder, variables })
    await deployProject({ folder, variables, by: 'test' })
    host = await openHost({ folder, variables })
  })
  after(async () => {
    await host.close()
    await rm(folder, { recursive: true, force: true })
  })

  const addServer = (name: string, values: object) =>
    host.system.db
      .insertInto('waypost_server')
      .values({
        id: name,
        name,
        version: '1.0.0',
        release_id: null,
        state: 'serving',
        error: null,
        started_at: host.system.now(),
        heartbeat_at: host.system.now(),
        ...values,
      })
      .execute()
  const addDeliveries = async (count: number, subscription = 'sub_gone') => {
    await host.system.db
      .insertInto('waypost_delivery')
      .values(
        Array.from({ length: count }, (_, index) => ({
          id: `${subscription}-${index}`,
          message_id: `msg_${index}`,
          subscription_id: subscription,
          status: 'pending' as const,
          due_at: 1000,
          failures: 0,
          lost: 0,
          created_at: 1000,
          finished_at: null,
        })),
      )
      .execute()
  }
  const clear = async () => {
    for (const table of ['waypost_delivery', 'waypost_subscription', 'waypost_server'] as const) {
      await host.system.db.deleteFrom(table).execute()
    }
    await host.system.db.deleteFrom('waypost_system').where('name', '=', 'last_execute').execute()
  }
  return {
    get folder() {
      return folder
    },
    get variables() {
      return variables
    },
    get host() {
      return host
    },
    run,
    addServer,
    addDeliveries,
    clear,
  }
}
