import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { sql } from 'kysely'
import { deployProject, type DeployOptions, type Deployment } from '../../../src/project/index.ts'
import { loadActiveId } from '../../../src/release/index.ts'
import { openHost, type Host } from '../../../src/host/index.ts'
import { copySystem } from '../../support/migrated.ts'
import { writeFiles, type Files } from '../../support/project-server.ts'

/** A project and the System to which it is deployed. */
export interface DeployWorld extends AsyncDisposable {
  readonly folder: string
  readonly variables: Readonly<Record<string, string>>
  readonly host: Host
  /** Replaces the files of the project and deploys it, migrations first; `undefined` removes a file. */
  deploy(files: Readonly<Record<string, string | undefined>>, more?: Partial<DeployOptions>): Promise<Deployment>
  activeId(): Promise<string | undefined>
  /** Names of the tables of System that are not Waypost's own. */
  tables(): Promise<readonly string[]>
}

/** A `waypost.yml` that differs by a number and needs no code. */
export function projectOf(number: number, more = ''): string {
  return `config: { subscription_limit: ${number} }\n${more}`
}

/** A migration that creates a table. */
export function makesTable(name: string, { more = '', flags = '' } = {}): string {
  return `export default {
    async up(db) { await db.schema.createTable('${name}').addColumn('id', 'integer').execute(); ${more} },
    async down(db) { await db.schema.dropTable('${name}').execute() },
    ${flags}
  }`
}

export async function openDeployWorld(systemUrl: string): Promise<DeployWorld> {
  const folder = await mkdtemp(path.join(tmpdir(), 'waypost-deploy-'))
  const variables = {
    WAYPOST_SYSTEM_URL: systemUrl.replace('sqlite:', `sqlite:${folder}/`),
    WAYPOST_BASE_URL: 'https://api.example.com',
    WAYPOST_SECRET: 'a secret for a test of at least 32 characters',
    LOG_LEVEL: 'silent',
    HOST: '127.0.0.1',
  }
  await copySystem(systemUrl, folder)
  const host = await openHost({ folder, variables, create: true, unmigrated: true, disposable: true })
  return {
    folder,
    variables,
    host,
    async deploy(files, more = {}) {
      const there = Object.entries(files).filter((entry): entry is [string, string] => entry[1] !== undefined)
      await writeFiles(folder, Object.fromEntries(there) satisfies Files)
      for (const name of Object.keys(files)) if (files[name] === undefined) await rm(path.join(folder, name))
      const deployment = await deployProject({
        folder,
        variables,
        by: 'ann',
        migrate: true,
        isConfirmed: true,
        ...more,
      })
      return deployment!
    },
    activeId: () => loadActiveId(host.system),
    async tables() {
      const tables = await host.system.db.introspection.getTables()
      return tables
        .map(({ name }) => name)
        .filter((name) => !name.startsWith('waypost_') && !name.startsWith('sqlite_'))
    },
    async [Symbol.asyncDispose]() {
      await host.close()
      await rm(folder, { recursive: true })
    },
  }
}

/** Deletes the record that a migration ran. */
export async function forgetMigration({ system }: Host, name: string): Promise<void> {
  await sql`delete from waypost_migration where name = ${name}`.execute(system.db)
}
