import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import pino from 'pino'
import type { EventData, EventName, RouteKey, RouteOf } from '../contract/index.ts'
import { parseDuration, type Clock } from '../kit/index.ts'
import { openTestProject } from '../project/index.ts'
import { issueHostToken, openHost, openIdentity, prepareTestHost, startServer, type Host } from '../server/index.ts'
import { openEventTrap, type EventTrap } from './event-trap.ts'
import { testErrors } from './errors.ts'

/** What goes into a request; typed by the route that it is for. */
export interface Injection<Key extends RouteKey> {
  readonly params?: RouteOf<Key>['params']
  readonly query?: Partial<RouteOf<Key>['query']>
  readonly body?: RouteOf<Key>['body']
  readonly headers?: Readonly<Record<string, string>>
}

/** What came back. */
export interface Injected<Key extends RouteKey> {
  readonly status: number
  readonly headers: Headers
  /** Parsed where it is JSON, else the text. */
  readonly body: RouteOf<Key>['result']
}

/** Somebody who calls the API under test. */
export interface Caller {
  /** Sends a request to a route, named as in `Action<'POST /todo'>`, and delivers the events that it dispatched. */
  inject<Key extends RouteKey>(route: Key, injection?: Injection<Key>): Promise<Injected<Key>>
}

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
  const home = await mkdtemp(path.join(tmpdir(), 'waypost-test-'))
  const closers: (() => Promise<unknown>)[] = [() => rm(home, { recursive: true, force: true })]
  const close = async () => {
    for (const step of closers.splice(0).toReversed()) await step()
  }
  try {
    const { clock, forward } = makeTestClock()
    const project = await openTestProject(folder, options.variables)
    const host = await openHost({
      folder: home,
      variables: {
        ...project.variables,
        WAYPOST_SYSTEM_URL: undefined,
        WAYPOST_BASE_URL: undefined,
        WAYPOST_SECRET: undefined,
      },
      create: true,
      unmigrated: true,
      disposable: true,
      clock,
    })
    closers.push(() => host.close())
    await prepareTestHost(host)
    const release = await project.install(host)
    const server = await startServer({
      host,
      identity: await openIdentity(host),
      logger: pino({ level: 'error' }),
      isDevelopment: true,
      address: { host: '127.0.0.1', port: 0 },
    })
    closers.push(() => server.close())
    await server.serveRelease(release.stored, release.artifacts)
    const trap = await openEventTrap(server, Object.keys(release.stored.manifest.events))
    closers.push(() => trap.close())
    const url = `http://127.0.0.1:${server.port}`
    return {
      url,
      inject: makeInject(url, trap),
      as: (user, scopes) => makeCaller({ url, trap, host, user, scopes }),
      events: { delivered: (name) => trap.delivered(name) as never },
      clock: { forward },
      close,
      [Symbol.asyncDispose]: close,
    }
  } catch (error) {
    await close()
    throw error
  }
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

function makeCaller(options: {
  url: string
  trap: EventTrap
  host: Host
  user: string
  scopes: readonly string[]
}): Caller {
  const { url, trap, host, user, scopes } = options
  let token: Promise<string> | undefined
  return {
    inject: async (route, injection = {}) => {
      token ??= trap.ensureUser(user, scopes).then(async () => {
        const issued = await issueHostToken(host, { user, scopes, expires: undefined })
        return issued.access_token
      })
      const headers = { authorization: `Bearer ${await token}`, ...injection.headers }
      return makeInject(url, trap)(route, { ...injection, headers })
    },
  }
}

function makeInject(url: string, trap: EventTrap): Caller['inject'] {
  return async (route, injection = {}) => {
    const [method = '', template = ''] = route.split(' ')
    const params = (injection.params ?? {}) as Record<string, unknown>
    const filled = template.replace(/:(\w+)/g, (_, name: string) => {
      if (!(name in params)) throw testErrors.WP_TESTING_PARAMETER({ route, name })
      return encodeURIComponent(String(params[name]))
    })
    const query = new URLSearchParams(
      Object.entries(injection.query ?? {}).map(([name, value]): [string, string] => [name, String(value)]),
    )
    const hasBody = injection.body !== undefined
    const response = await fetch(`${url}${filled}${query.size === 0 ? '' : `?${query.toString()}`}`, {
      method,
      headers: { ...(hasBody ? { 'content-type': 'application/json' } : {}), ...injection.headers },
      ...(hasBody ? { body: JSON.stringify(injection.body) } : {}),
    })
    const text = await response.text()
    const isJson = /[/+]json\b/.test(response.headers.get('content-type') ?? '')
    await trap.deliver()
    return { status: response.status, headers: response.headers, body: (isJson ? JSON.parse(text) : text) as never }
  }
}
