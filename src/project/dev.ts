import { existsSync } from 'node:fs'
import path from 'node:path'
import { makeTrafficLog } from '../backend/index.ts'
import { openBuilder } from '../build/index.ts'
import { variable, version, messageOf } from '../kit/index.ts'
import { catchUnhandledErrors, startServer, type ServerOptions, type WaypostServer } from '../server/index.ts'
import { findUser, makeSignInLinks } from '../auth/index.ts'
import { issueHostToken } from '../operate/index.ts'
import {
  nameTarget,
  openHost,
  type AppliedMigration,
  openIdentity,
  readBackendSettings,
  readBaseUrl,
  type Host,
  type Identity,
} from '../host/index.ts'
import type { ClosedModules } from '../release/index.ts'
import { existingTables, makeLock, loadFacts, replaceFact, storeFact } from '../store/index.ts'
import { describeRefusedHost, makeHostCheck, type HostCheck } from './allowed-hosts.ts'
import { choosePort } from './choose-port.ts'
import type { DevStarted } from './dev-console.ts'
import { makeDevLogger, readOutput } from './dev-logger.ts'
import type { DevOptions, DevSession } from './dev-options.ts'
import { announceDev, findRunningDev, watchMigrated, type RunningDev } from './dev-server-file.ts'
import { FolderDraft } from './draft/folder-draft.ts'
import { ensureDevelopmentUser } from './development-user.ts'
import { findProject } from './find-project.ts'
import { reloadOnSave } from './reload-on-save.ts'
import { listeningUrls } from './listening-urls.ts'
import { migrateOwnTables } from './migrate.ts'
import { createReloader, type Reload, type ReloadResult } from './reloader.ts'
import { errors } from './errors.ts'
import { openTypeChecker, type TypeChecker } from './type-checker.ts'
import { SessionMigrations } from './session-migrations.ts'
import { startDelivering as deliver } from '../jobs/index.ts'

export interface DevServer {
  /** What was shown at start. */
  readonly started: DevStarted
  /** Builds and serves the current files. */
  reload(): Promise<void>
  /** Returns a link that opens the backend, signed in once; undefined if the backend is off. */
  openBackend(): Promise<string | undefined>
  /** Issues a token of the first user with all scopes, with its lifetime in seconds. */
  issueToken(): Promise<{ readonly token: string; readonly expiresInS: number }>
  close(): Promise<void>
}

/** Watches a project and serves each save without errors until it is closed. */
export async function dev(options: DevOptions): Promise<DevServer> {
  const startedAt = performance.now()
  await using opened = new AsyncDisposableStack()
  const stopping = new AbortController()
  const signals = [stopping.signal, ...(options.imports?.signal === undefined ? [] : [options.imports.signal])]
  const imports = { ...options.imports, signal: AbortSignal.any(signals) }
  const other = await findRunningDev(options.folder)
  const { session, applied } = await openSession({ ...options, imports }, opened)
  const { project, server } = session
  const builder = openBuilder({ ...project, version, isDevelopment: true })
  opened.defer(() => builder.close())
  const reloadFiles = createReloader({
    ...options,
    project,
    builder,
    server,
    migrations: session.migrations,
    takeLoaded: (changed) => session.draft.takeLoaded(changed),
  })
  const first = await reloadFiles().finally(server.started)
  const user = await ensureDevelopmentUser(options.folder, server.host.system, 'failed' in first ? [] : first.scopes)
  if (options.deliver) opened.defer(startDelivering(session))
  const types = options.checksTypes ? openTypeChecker(options.folder, options) : undefined
  opened.defer(() => types?.close())
  const watching = await reloadOnSave(session, { first, reloadFiles: withTypes(reloadFiles, types) })
  opened.defer(() => watching.close())
  session.draft.connect({ watching, pluginBuilder: builder.plugins, variables: session.host.variables })
  opened.defer(watchMigrated(options.folder, () => void watching.flush()))
  const openBackend = () => makeBackendLink(session, user)
  const started = { ...describeStart(session, first, applied), user, backend: await openBackend() }
  const event = { ...started, ms: performance.now() - startedAt }
  opened.defer(await announceDev(options.folder, event.url))
  options.console.started(event)
  if (other !== undefined) options.console.warned(describeOther(other))
  if ('failed' in first) options.console.reloadFailed({ ...first, files: [], isServing: false })
  else options.console.foundWarnings(first.diagnostics)
  const issueToken = async () => {
    const issued = await issueHostToken(
      { ...session.host, actor: { how: 'command', name: 'dev' } },
      { user: user.name, scopes: undefined, expires: undefined },
    )
    return { token: issued.access_token, expiresInS: issued.expires_in }
  }
  const closers = opened.move()
  const close = () => {
    stopping.abort()
    return closers.disposeAsync()
  }
  return { started: event, reload: watching.flush, openBackend, issueToken, close }
}

/** Checks the types after each reload; a new one cancels the check. */
function withTypes(reload: Reload, types: TypeChecker | undefined): Reload {
  return async (request) => {
    types?.cancel()
    const result = await reload(request)
    if (!('failed' in result)) types?.schedule()
    return result
  }
}

/** Opens System, the identity and a listening server, without the project. */
async function openSession(
  options: DevOptions,
  opened: AsyncDisposableStack,
): Promise<{ session: DevSession; applied: readonly AppliedMigration[] }> {
  const { folder, variables, envFiles, imports, console } = options
  const project = findProject(folder)
  const address = addressOf(options)
  const port = await choosePort(options, address)
  const host = await openHost({ folder, variables, envFiles, imports, create: true, unmigrated: true })
  opened.defer(() => host.close())
  await assertDevelopment(host)
  const onWarning = (message: string) => console.warned(message)
  const applied = await makeLock(host.system.database)('migrate', () => migrateOwnTables(host, { onWarning }))
  const identity = await claimDevelopment(host, port)
  opened.defer(
    catchUnhandledErrors({
      onRejection: (error) => console.unhandledError(error),
      onException: (error) => console.unhandledError(error),
    }),
  )
  const check = makeHostCheck({ listening: address, baseUrl: identity.issuer, allowed: options.allowedHosts ?? [] })
  const refusedHost = warnOnce(check, console)
  const signInLinks = makeSignInLinks()
  const migrations = new SessionMigrations()
  const draft = new FolderDraft(project, { clock: host.clock, migrations, envFiles })
  opened.defer(() => draft.close())
  const own = { host, identity, address: { host: address, port }, refusedHost, signInLinks, draft }
  const server = await startDevServer(options, own)
  opened.defer(() => server.close())
  return { session: { options, project, host, identity, server, links: signInLinks, draft, migrations }, applied }
}

function startDevServer(
  { console }: DevOptions,
  own: Pick<ServerOptions, 'host' | 'identity' | 'address' | 'refusedHost' | 'signInLinks' | 'draft'>,
): Promise<WaypostServer> {
  const traffic = makeTrafficLog(own.host.clock.now())
  return startServer({
    ...own,
    isStarting: true,
    logger: makeDevLogger(own.host, console),
    isDevelopment: true,
    // Do not run cronjobs that were due while dev was not running.
    cron: { fromNow: true, onRan: (report) => console.ranCronjob(report) },
    traffic,
    onResponse(answered) {
      traffic.add(answered, own.host.clock.now())
      console.answered(answered)
    },
    onClosed(closed) {
      if (own.host.imports?.signal?.aborted !== true) warnClosed(closed, console)
    },
    onServerError: (error, request) => console.failed(error, request),
  })
}

/** Names what the previous version of the code has left open. */
function warnClosed({ left, errors }: ClosedModules, console: DevOptions['console']): void {
  for (const { kind, place, isEnded } of left) {
    const end = isEnded ? 'It was ended' : 'It is still open'
    console.warned(`${place}: the previous version left a ${kind} running. ${end}; close it with onClose.`)
  }
  for (const error of errors) console.warned(error.message)
}

const maxWarnings = 10

/** Warns once about each rejected host, up to a limit, because pages can use any number of names. */
function warnOnce(check: HostCheck, console: DevOptions['console']): HostCheck {
  const warned = new Set<string>()
  return (header) => {
    const refused = check(header)
    if (refused === undefined || warned.has(refused) || warned.size >= maxWarnings) return refused
    warned.add(refused)
    console.warned(describeRefusedHost(refused))
    return refused
  }
}

function describeStart(
  { options, project, host, server }: DevSession,
  first: ReloadResult,
  own: readonly AppliedMigration[],
): Omit<DevStarted, 'user' | 'backend' | 'ms'> {
  const urls = listeningUrls(addressOf(options), server.port)
  const done = 'failed' in first ? { applied: [], written: [] } : first.migration
  return {
    project: project.label,
    ...urls,
    docs: server.terms().settings.docs === 'off' ? undefined : `${urls.url}/docs`,
    target: nameTarget(host),
    envFiles: (options.envFiles ?? []).filter((file) => existsSync(path.join(project.root, file))),
    migration: { ...done, applied: [...own, ...done.applied] },
    delivers: options.deliver,
    suggestions: 'failed' in first ? [] : first.suggestions,
    isServing: !('failed' in first),
  }
}

async function makeBackendLink(
  { options, host, server, links }: DevSession,
  user: { readonly name: string },
): Promise<string | undefined> {
  if (readBackendSettings(host.variables).mode === 'off') return undefined
  const { id } = await findUser(host.system, user.name)
  return `${listeningUrls(addressOf(options), server.port).url}/authorization/link?${links.make(id)}`
}

function addressOf({ host, variables }: DevOptions): string {
  return host ?? variable(variables, 'HOST') ?? '127.0.0.1'
}

function describeOther({ url, pid }: RunningDev): string {
  return `Another waypost dev of this project serves ${url} (process ${pid}); both use the same data.`
}

/**
 * Checks that System does not serve a deployment.
 * @throws WP_PROJECT_PRODUCTION
 */
export async function assertDevelopment({ system }: Host): Promise<void> {
  if ((await existingTables(system, ['waypost_system'])).length === 0) return
  const { origin = 'development' } = await loadFacts(system)
  if (origin !== 'development') throw errors.WP_PROJECT_PRODUCTION({ target: system.target })
}

/** Marks System as a development System whose issuer is the address of `dev`. */
export async function claimDevelopment(host: Host, port: number): Promise<Identity> {
  const { system, variables } = host
  const issuer = readBaseUrl(variable(variables, 'WAYPOST_BASE_URL')) ?? readBaseUrl(`http://localhost:${port}`)!
  const origin = await storeFact(system, 'origin', 'development')
  if (origin !== 'development') throw errors.WP_PROJECT_PRODUCTION({ target: system.target })
  const facts = await loadFacts(system)
  if (facts.issuer !== issuer) await replaceFact(system, 'issuer', issuer)
  return openIdentity(host)
}

/**
 * Delivers events in the background and runs listeners, and shows each attempt and run.
 * @returns a function that stops it and waits for running attempts
 */
export function startDelivering({ options: { console }, server, identity }: DevSession): () => Promise<void> {
  return deliver({
    server,
    identity,
    recordsActivity: false,
    onAttempt: (attempt) => console.delivered(attempt),
    onRun: (report) => console.ranListener(report),
    onOutput: (line) => console.logged(readOutput(line)),
    onWait: (error) => console.warned(`Event delivery paused: ${messageOf(error)}`),
    onRecovered: () => console.warned('Event delivery continues'),
    onEnd: (error) => console.warned(`Event delivery stopped: ${messageOf(error)}`),
  })
}
