import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { EventData, EventName } from '../contract/index.ts'
import { parseDuration, readEnvironment, type Clock, type Variables } from '../kit/index.ts'
import { openTestProject } from '../project/index.ts'
import { executeHostCronjobs } from '../jobs/index.ts'
import { prepareTestHost, startServer } from '../server/index.ts'
import { openHost, openIdentity, type Host } from '../host/index.ts'
import { makeCaller, makeInject, type Caller } from './caller.ts'
import { openEventTrap } from './event-trap.ts'
import { testErrors } from './errors.ts'
import { makeTestLog } from './test-log.ts'

/** The project under test, served from a System of its own that is gone afterwards. */
export interface TestApp extends Caller, AsyncDisposable {
  /** `http://127.0.0.1:PORT`, for what `inject` cannot say. */
  readonly url: string
  /** Calls as a user, made if need be, with a token that carries these scopes. */
  as(user: string, scopes: readonly string[]): Caller
  readonly events: {
    /** The data of every delivery of an event so far, oldest first. */
    delivered<Name extends EventName>(name: Name): EventData<Name>[]
  }
  readonly cronjobs: {
    /** Runs one now, whatever its schedule, and delivers the events that it dispatched. @throws what its action throws */
    run(name: string): Promise<void>
  }
  readonly clock: {
    /** Turns the clock forward, for example by `1h`. */
    forward(duration: string): void
  }
  close(): Promise<void>
}

export interface TestAppOptions {
  /** The project's folder; where the tests run by default. */
  readonly folder?: string
  /** Variables that the project names, over those of the environment. */
  readonly variables?: Readonly<Record<string, string>>
}

/** Builds the project of the folder, migrates a System that nobody else uses, and serves it on a free port. */
export async function createTestApp(options: TestAppOptions = {}): Promise<TestApp> {
  const folder = path.resolve(options.folder ?? '.')
  const { clock, forward } = makeTestClock()
  const closers: (() => Promise<unknown>)[] = []
  const close = async () => {
    for (const step of closers.splice(0).toReversed()) await step()
  }
  try {
    // Side by side: the project is built by a process of its own.
    const [project, host] = await allSettled(
      openTestProject(folder, options.variables),
      openTestHost({ ...readEnvironment(folder), ...options.variables }, { clock, closers }),
    )
    const release = await project.install(host)
    const logger = makeTestLog((text) => process.stderr.write(text))
    const server = await startServer({
      host,
      identity: await openIdentity(host),
      logger,
      isDevelopment: true,
      address: { host: '127.0.0.1', port: 0 },
    })
    closers.push(() => server.close())
    await server.serveRelease(release.stored, { artifacts: release.artifacts })
    const trap = await openEventTrap(server, Object.keys(release.stored.manifest.events))
    closers.push(() => trap.close())
    const url = `http://127.0.0.1:${server.port}`
    return {
      url,
      inject: makeInject(url, trap),
      as: (user, scopes) => makeCaller({ url, trap, host, user, scopes }),
      events: { delivered: (name) => trap.delivered(name) as never },
      cronjobs: {
        async run(name) {
          const { reports } = await executeHostCronjobs(host, { name, logger })
          for (const { outcome, error } of reports) if (outcome === 'failed') throw error
          await trap.deliver()
        },
      },
      clock: { forward },
      close,
      [Symbol.asyncDispose]: close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** Waits for both also when one fails, so that all that was opened can be closed. */
async function allSettled<One, Other>(one: Promise<One>, other: Promise<Other>): Promise<[One, Other]> {
  await Promise.allSettled([one, other])
  return [await one, await other]
}

interface Opening {
  readonly clock: Clock
  readonly closers: (() => Promise<unknown>)[]
}

/** A System of its own, in a folder of its own, whatever the environment names. */
async function openTestHost(variables: Variables, { clock, closers }: Opening): Promise<Host> {
  const home = await mkdtemp(path.join(tmpdir(), 'waypost-test-'))
  closers.push(() => rm(home, { recursive: true, force: true }))
  const own = { WAYPOST_SYSTEM_URL: undefined, WAYPOST_BASE_URL: undefined, WAYPOST_SECRET: undefined }
  const host = await openHost({
    folder: home,
    variables: { ...variables, ...own },
    create: true,
    unmigrated: true,
    disposable: true,
    clock,
  })
  closers.push(() => host.close())
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
