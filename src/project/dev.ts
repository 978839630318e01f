import { openBuilder } from '../build/index.ts'
import { variable, version } from '../kit/index.ts'
import { catchStrayFailures, startServer, type ServerOptions, type WaypostServer } from '../server/index.ts'
import { issueHostToken } from '../operate/index.ts'
import { nameTarget, openHost, type AppliedMigration } from '../host/index.ts'
import { makeLock } from '../store/index.ts'
import { makeHostCheck, type HostCheck } from './allowed-hosts.ts'
import { choosePort } from './choose-port.ts'
import { assertDevelopment, claimDevelopment } from './claim-development.ts'
import type { DevStarted } from './dev-console.ts'
import { makeDevLogger } from './dev-logger.ts'
import type { DevOptions, DevSession } from './dev-options.ts'
import { announceDev, findRunningDev, followMigrated, type RunningDev } from './dev-server-file.ts'
import { ensureDevelopmentUser } from './development-user.ts'
import { findProject } from './find-project.ts'
import { followSaves } from './follow-saves.ts'
import { listeningUrls } from './listening-urls.ts'
import { migrateOwnTables } from './migrate.ts'
import { startDelivering } from './start-delivering.ts'
import { makeTakeOver, type TakenOver } from './take-over.ts'

export interface DevServer {
  /** What it said when it started. */
  readonly started: DevStarted
  /** Builds and serves what the files hold now, as if something had been saved. */
  reload(): Promise<void>
  /** A fresh token of the first user, with every scope, and its lifetime in seconds. */
  issueToken(): Promise<{ readonly token: string; readonly expiresInS: number }>
  close(): Promise<void>
}

/** Watches a project and serves every save that has no error, until it is closed. */
export async function dev(options: DevOptions): Promise<DevServer> {
  const began = performance.now()
  await using opened = new AsyncDisposableStack()
  const stopping = new AbortController()
  const signals = [stopping.signal, ...(options.imports?.signal === undefined ? [] : [options.imports.signal])]
  const imports = { ...options.imports, signal: AbortSignal.any(signals) }
  const other = await findRunningDev(options.folder)
  const { session, own } = await openSession({ ...options, imports }, opened)
  const { project, server } = session
  const builder = openBuilder({ ...project, version, isDevelopment: true })
  opened.defer(() => builder.close())
  const takeOver = makeTakeOver({ ...options, project, builder, server })
  const first = await takeOver()
  const user = await ensureDevelopmentUser(options.folder, server.host.system, 'refused' in first ? [] : first.scopes)
  if (options.deliver) opened.defer(startDelivering(session))
  const watching = await followSaves(session, { first, takeOver })
  opened.defer(() => watching.close())
  opened.defer(followMigrated(options.folder, () => void watching.flush()))
  const news = { ...describeStart(session, first, own), user, ms: performance.now() - began }
  opened.defer(await announceDev(options.folder, news.url))
  options.console.started(news)
  if (other !== undefined) options.console.warned(describeOther(other))
  if ('refused' in first) options.console.refused({ ...first, files: [], isServing: false })
  const issueToken = async () => {
    const issued = await issueHostToken(session.host, { user: user.name, scopes: undefined, expires: undefined })
    return { token: issued.access_token, expiresInS: issued.expires_in }
  }
  const closers = opened.move()
  const close = () => {
    stopping.abort()
    return closers.disposeAsync()
  }
  return { started: news, reload: watching.flush, issueToken, close }
}

/** Everything but the project itself: System, identity, and a server that listens. */
async function openSession(
  options: DevOptions,
  opened: AsyncDisposableStack,
): Promise<{ session: DevSession; own: readonly AppliedMigration[] }> {
  const { folder, variables, imports, console } = options
  const project = findProject(folder)
  const address = addressOf(options)
  const port = await choosePort(options, address)
  const host = await openHost({ folder, variables, imports, create: true, unmigrated: true })
  opened.defer(() => host.close())
  await assertDevelopment(host)
  const own = await makeLock(host.system.database)('migrate', () => migrateOwnTables(host))
  const identity = await claimDevelopment(host, port)
  opened.defer(
    catchStrayFailures({
      onRejection: (error) => console.strayed(error),
      onException: (error) => console.strayed(error),
    }),
  )
  const check = makeHostCheck({ listening: address, baseUrl: identity.issuer, allowed: options.allowedHosts ?? [] })
  const refusedHost = warnOnce(check, console)
  const server = await startDevServer(options, { host, identity, address: { host: address, port }, refusedHost })
  opened.defer(() => server.close())
  return { session: { options, project, host, identity, server }, own }
}

function startDevServer(
  { console }: DevOptions,
  own: Pick<ServerOptions, 'host' | 'identity' | 'address' | 'refusedHost'>,
): Promise<WaypostServer> {
  return startServer({
    ...own,
    logger: makeDevLogger(own.host, console),
    isDevelopment: true,
    // Nobody who starts to work wants what was due in the night.
    cron: { fromNow: true, onRan: (report) => console.ranCronjob(report) },
    onResponse: (answered) => console.answered(answered),
    onServerError: (error, request) => console.failed(error, request),
  })
}

const mostWarnings = 10

/** Warns of each host that is refused, once, and of so many at most: a page may ask for any number of names. */
function warnOnce(check: HostCheck, console: DevOptions['console']): HostCheck {
  const warned = new Set<string>()
  return (header) => {
    const refused = check(header)
    if (refused === undefined || warned.has(refused) || warned.size >= mostWarnings) return refused
    warned.add(refused)
    console.warned(`refused a request for the host ${refused}; to allow it: waypost dev --allow-host ${refused}`)
    return refused
  }
}

function describeStart(
  { options, project, host, server }: DevSession,
  first: TakenOver,
  own: readonly AppliedMigration[],
): Omit<DevStarted, 'user' | 'ms'> {
  const urls = listeningUrls(addressOf(options), server.port)
  const done = 'refused' in first ? { applied: [], written: [] } : first.migration
  return {
    project: project.label,
    ...urls,
    docs: server.terms().settings.docs === 'off' ? undefined : `${urls.url}/docs`,
    target: nameTarget(host),
    migration: { ...done, applied: [...own, ...done.applied] },
    delivers: options.deliver,
    suggestions: 'refused' in first ? [] : first.suggestions,
  }
}

function addressOf({ host, variables }: DevOptions): string {
  return host ?? variable(variables, 'HOST') ?? '127.0.0.1'
}

function describeOther({ url, pid }: RunningDev): string {
  return `Another waypost dev of this project serves ${url} (process ${pid}); both use the same data.`
}
