import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { takeCoverage } from 'node:v8'
import type { ConnectionName, EventData, EventName, ListenerName } from '../contract/index.ts'
import { openHost, openIdentity, type Host } from '../host/index.ts'
import { executeHostCronjobs, runDueListeners, type RunReport } from '../jobs/index.ts'
import { parseDuration, readEnvFile, readEnvironment, variable, type Clock, type Variables } from '../kit/index.ts'
import { openTestProject, type TestConnection } from '../project/index.ts'
import { openTestDatabases, prepareTestHost, startServer, type TestDatabases } from '../server/index.ts'
import { makeCaller, makeInject, type Caller } from './caller.ts'
import { openEventTrap } from './event-trap.ts'
import { noteCoverage } from './contract-coverage.ts'
import { findStreams } from './read-items.ts'
import { testErrors } from './errors.ts'
import { makeTestLog } from './test-log.ts'

/** The project under test, served from its own temporary System. */
export interface TestApp extends Caller, AsyncDisposable {
  /** `http://127.0.0.1:PORT`, for requests that `inject` does not support. */
  readonly url: string
  /**
   * Returns a caller for a user with a token for these scopes. Creates the user if needed. If the clock has moved past
   * the expiry of the token, the next request gets a new one.
   */
  as(user: string, scopes: readonly string[]): Caller
  readonly events: {
    /** Returns the data of all deliveries of an event so far, oldest first, including events for certain `users`. */
    delivered<Name extends EventName>(name: Name): EventData<Name>[]
    /** Delivers what is due, for example delayed events after `clock.forward`. `inject` and `run` do this at their end. */
    deliver(): Promise<void>
  }
  readonly cronjobs: {
    /**
     * Runs a cronjob now, regardless of its schedule, and delivers the events that it dispatched.
     * @throws the error of its action
     */
    run(name: string): Promise<void>
  }
  /**
   * Runs what is due for a listener, each run once, and delivers the events that it dispatched. Runs that fail are repeated by
   * a later call, when `clock.forward` has moved past their delay.
   * @returns how the runs ended
   */
  run(listener: ListenerName): Promise<readonly TestRun[]>
  /** How the runs of listeners ended so far, oldest first. */
  readonly listeners: readonly TestRun[]
  readonly clock: {
    /** Moves the clock forward, for example by `1h`. */
    forward(duration: string): void
  }
  close(): Promise<void>
}

/** How a run of a listener ended. */
export interface TestRun {
  readonly listener: string
  readonly event: string
  /** Counts the runs that failed, from 1. */
  readonly attempt: number
  readonly outcome: RunReport['verdict']
  /** Why it did not succeed. */
  readonly reason: string | undefined
}

export interface TestAppOptions {
  /** The project's folder; the working directory by default. */
  readonly folder?: string
  /** Values for the project's variables. They override the environment. */
  readonly env?: Readonly<Record<string, string | number | boolean>>
  /**
   * A file of variables to read, relative to the folder, such as `.env.test`. By default none is read, not even `.env`.
   */
  readonly envFile?: string
  /** The database of System; `sqlite` by default. */
  readonly system?: 'sqlite' | 'postgresql'
  /**
   * The URL of a PostgreSQL server, with a user that may create databases. Each app creates its databases there and
   * drops them when it closes. `WAYPOST_TEST_DATABASES` by default.
   */
  readonly databases?: string
  /**
   * Replacements of the project's connections. By default each SQLite and PostgreSQL connection gets a new database, and
   * an `http` connection keeps a loopback URL. An action that uses another connection fails.
   */
  readonly connections?: Readonly<Partial<Record<ConnectionName, TestConnection>>>
  /**
   * Runs the seeds of the project before the app is served: `true` for all in their order, or the names of some in the
   * given order. The events that they dispatch are not delivered. None by default.
   */
  readonly seed?: boolean | readonly string[]
  /**
   * Notes what of the definition the tests touch. `report` prints what they have not touched when this process ends;
   * otherwise a folder for a record that `waypost coverage` reads. The variable `WAYPOST_COVERAGE` by default.
   */
  readonly coverage?: string
}

/**
 * Builds the project of a folder, migrates new databases and serves the project on a free port.
 * @throws WP_PROJECT_BROKEN, WP_PROJECT_TEST_REPLACED, WP_PROJECT_TEST_VARIABLE, WP_PROJECT_SEED_FAILED, WP_SERVER_TEST_SERVER
 */
export async function createTestApp(options: TestAppOptions = {}): Promise<TestApp> {
  const folder = path.resolve(options.folder ?? '.')
  const { clock, forward } = makeTestClock()
  await using opened = new AsyncDisposableStack()
  // Runners of tests may kill this process before its end, when Node writes the coverage of lines.
  if (variable(readEnvironment(), 'NODE_V8_COVERAGE') !== undefined) opened.defer(() => takeCoverage())
  const home = await mkdtemp(path.join(tmpdir(), 'waypost-test-'))
  opened.defer(() => rm(home, { recursive: true, force: true }))
  const environment = readTestEnvironment(folder, options)
  const databases = opened.use(openTestDatabases(environment.databases))
  const surroundings = { ...environment, home, databases, clock, system: options.system }
  // In parallel: a child process builds the project.
  const { seed = false } = options
  const [built, host] = await allSettled(
    openTestProject(folder, { hasSeeds: seed !== false }),
    openTestHost(surroundings, opened),
  )
  const { variables } = environment
  const project = await built.isolate({ home, databases, variables, replacements: options.connections ?? {} })
  const release = await project.install(host)
  const loadPlugins = async () => project.plugins
  const wanted = options.coverage ?? variable(readEnvironment(), 'WAYPOST_COVERAGE')
  const notes = wanted === undefined ? undefined : noteCoverage(folder, release.stored.manifest, wanted)
  opened.defer(() => notes?.save())
  const logger = makeTestLog(host, (text) => process.stderr.write(text))
  if (seed !== false) await project.seed(host, seed, logger)
  const server = await startServer({
    host,
    identity: await openIdentity(host),
    logger,
    isDevelopment: true,
    loadPlugins,
    address: { host: '127.0.0.1', port: 0 },
    ...(notes === undefined ? {} : { onExchange: notes.exchange }),
  })
  opened.defer(() => server.close())
  await server.serveRelease(release.stored, { artifacts: release.artifacts })
  const trap = await openEventTrap(server, listConsumerEvents(release.stored.manifest.events), (event) =>
    notes?.note('event', event),
  )
  opened.defer(() => trap.close())
  const runs: TestRun[] = []
  const url = `http://127.0.0.1:${server.port}`
  const target = { url, trap, streams: findStreams(release.stored.manifest) }
  const closers = opened.move()
  const close = () => closers.disposeAsync()
  return {
    url,
    inject: makeInject(target),
    as: (user, scopes) => makeCaller(target, { host, user, scopes }),
    events: { delivered: (name) => trap.delivered(name) as never, deliver: () => trap.deliver() },
    cronjobs: {
      async run(name) {
        const { reports } = await executeHostCronjobs(host, { name, logger, loadPlugins })
        notes?.note('cronjob', name)
        for (const { outcome, error } of reports) if (outcome === 'failed') throw error
        await trap.deliver()
      },
    },
    async run(name) {
      const before = runs.length
      const onRun = ({ listener, event, attempt, verdict: outcome, reason }: RunReport) => {
        runs.push({ listener, event, attempt, outcome, reason })
        notes?.note('listener', listener)
        notes?.note('event', event)
      }
      await runDueListeners(host, { listener: name, logger, loadPlugins, onRun })
      await trap.deliver()
      return runs.slice(before)
    },
    listeners: runs,
    clock: { forward },
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** Consumers cannot subscribe to private events. */
function listConsumerEvents(events: Readonly<Record<string, { readonly private?: true }>>): readonly string[] {
  return Object.keys(events).filter((name) => events[name]!.private !== true)
}

/** Waits for both even if one fails, so that everything opened can be closed. */
async function allSettled<One, Other>(one: Promise<One>, other: Promise<Other>): Promise<[One, Other]> {
  await Promise.allSettled([one, other])
  return [await one, await other]
}

/** Without Waypost's own variables, which name a real System, secret and address. */
function readTestEnvironment(folder: string, { env = {}, envFile, databases }: TestAppOptions) {
  const file = envFile === undefined ? {} : readEnvFile(path.resolve(folder, envFile))
  const outside = { ...file, ...readEnvironment() }
  const foreign = Object.entries(outside).filter(([name]) => !name.startsWith('WAYPOST_'))
  const given = Object.entries(env).map(([name, value]) => [name, String(value)])
  const variables: Variables = Object.fromEntries([...foreign, ...given])
  return { variables, databases: databases ?? variable(outside, 'WAYPOST_TEST_DATABASES') }
}

interface Surroundings {
  readonly home: string
  readonly variables: Variables
  readonly databases: TestDatabases
  readonly clock: Clock
  readonly system: TestAppOptions['system']
}

/** Opens a System in a new folder or database, regardless of the variables. */
async function openTestHost(surroundings: Surroundings, opened: AsyncDisposableStack): Promise<Host> {
  const { home, variables, databases, clock, system } = surroundings
  const url = system === 'postgresql' ? await databases.create('System') : undefined
  const own = { WAYPOST_SYSTEM_URL: url, WAYPOST_SYSTEM_DIRECT_URL: undefined, WAYPOST_SECRET: undefined }
  const host = await openHost({
    folder: home,
    variables: { ...variables, ...own, WAYPOST_BASE_URL: 'http://localhost:3000' },
    create: true,
    unmigrated: true,
    disposable: true,
    clock,
  })
  opened.defer(() => host.close())
  await prepareTestHost(host)
  return host
}

function makeTestClock(): { clock: Clock; forward(duration: string): void } {
  let offset = 0
  return {
    clock: { now: () => Date.now() + offset, monotonic: () => performance.now() },
    forward(duration) {
      const ms = parseDuration(duration)
      if (ms === undefined) throw testErrors.WP_TESTING_DURATION({ duration })
      offset += ms
    },
  }
}
