import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import path from 'node:path'
import { watch } from 'chokidar'
import pino from 'pino'
import { openBuilder, type Builder } from '../build/index.ts'
import { executeEvents, type AttemptReport } from '../events/index.ts'
import { hasErrors, messageOf, userAgent, variable, version, type Diagnostic, type Variables } from '../kit/index.ts'
import { activateRelease, loadActiveRelease, pruneDevelopmentReleases } from '../release/index.ts'
import { openHost, openIdentity, readPort, startServer, type Host, type Identity, type WaypostServer } from '../server/index.ts'
import { loadFacts, makeLock, replaceFact, storeFact } from '../store/index.ts'
import type { Answered } from '../runtime/index.ts'
import { ensureDevelopmentUser, type DevelopmentUser } from './development-user.ts'
import { errors } from './errors.ts'
import { findProject, type Project } from './find-project.ts'
import { buildProject } from './load-project.ts'
import { migrateConnections, migrateOwnTables, type MigrationReport } from './migrate.ts'

export interface DevOptions {
  readonly folder: string
  readonly variables: Variables
  readonly port?: number | undefined
  readonly host?: string | undefined
  /** Deliver events in the background. */
  readonly deliver: boolean
  readonly console: DevConsole
}

/** Where `dev` says what happens. */
export interface DevConsole {
  started(news: DevStarted): void
  answered(answered: Answered): void
  failed(error: unknown, request: { id: string; method: string; path: string }): void
  delivered(attempt: AttemptReport): void
  /** A save was taken over; `diagnostics` may hold warnings. */
  reloaded(news: { files: readonly string[]; ms: number; diagnostics: readonly Diagnostic[]; migration?: MigrationReport }): void
  /** A save has errors: what was served before stays. */
  refused(news: { files: readonly string[]; diagnostics: readonly Diagnostic[]; error?: unknown }): void
  warned(message: string): void
}

export interface DevStarted {
  readonly project: string
  readonly url: string
  readonly target: string
  readonly user: DevelopmentUser
  readonly migration: MigrationReport
  readonly delivers: boolean
  /** The first public GET without parameters, to try. */
  readonly tryPath: string | undefined
  readonly ms: number
}

export interface DevServer {
  readonly url: string
  /** Builds and serves what the files hold now, as if something had been saved. */
  reload(): Promise<void>
  close(): Promise<void>
}

interface Session {
  readonly options: DevOptions
  readonly project: Project
  readonly host: Host
  readonly builder: Builder
  readonly server: WaypostServer
}

/** Watches a project and serves every save that has no error, until it is closed. */
export async function dev(options: DevOptions): Promise<DevServer> {
  const began = performance.now()
  const project = findProject(options.folder)
  // The issuer names the port, so it has to be known before anything listens.
  const port = readPort(options.variables, options.port) || (await findFreePort())
  const closers: (() => Promise<unknown>)[] = []
  const close = async () => {
    for (const step of closers.splice(0).toReversed()) await step()
  }
  try {
    const host = await openHost({ folder: options.folder, variables: options.variables, create: true, unmigrated: true })
    closers.push(() => host.close())
    const own = await makeLock(host.system.database)('migrate', () => migrateOwnTables(host))
    const identity = await claimDevelopment(host, port)
    const builder = openBuilder({ ...project, version })
    closers.push(() => builder.close())
    const server = await startDevServer(options, { host, identity, port })
    closers.push(() => server.close())

    const session: Session = { options, project, host, builder, server }
    const first = await takeOver(session, [])
    const user = await ensureDevelopmentUser(options.folder, host.system, first.scopes)
    if (options.deliver) closers.push(startDelivering(session, identity))
    const watcher = startWatching(session)
    closers.push(() => watcher.close())
    const url = `http://${options.host === undefined ? 'localhost' : options.host}:${server.port}`
    options.console.started({
      project: project.name,
      url,
      user,
      target: path.relative(options.folder, host.system.target) || host.system.target,
      migration: { applied: [...own, ...first.migration.applied], written: first.migration.written },
      delivers: options.deliver,
      tryPath: first.tryPath,
      ms: performance.now() - began,
    })
    if (first.refusal !== undefined) options.console.refused(first.refusal)
    return { url, reload: watcher.reload, close }
  } catch (error) {
    await close()
    throw error
  }
}

async function findFreePort(): Promise<number> {
  const probe = createServer()
  await once(probe.listen(0, '127.0.0.1'), 'listening')
  const { port } = probe.address() as AddressInfo
  await once(probe.close(), 'close')
  return port
}

/** A System that `dev` made belongs to development; one that serves a deployment is left alone. */
async function claimDevelopment(host: Host, port: number): Promise<Identity> {
  const facts = await loadFacts(host.system)
  const origin = facts.origin ?? (await storeFact(host.system, 'origin', 'development'))
  if (origin !== 'development') throw errors.WP_PROJECT_PRODUCTION({ target: host.system.target })
  const issuer = variable(host.variables, 'WAYPOST_BASE_URL') ?? `http://localhost:${port}`
  if (facts.issuer !== issuer) await replaceFact(host.system, 'issuer', issuer)
  return openIdentity(host)
}

function startDevServer(
  options: DevOptions,
  { host, identity, port }: { host: Host; identity: Identity; port: number },
): Promise<WaypostServer> {
  return startServer({
    host,
    identity,
    logger: pino({ level: variable(options.variables, 'LOG_LEVEL') ?? 'silent' }),
    isDevelopment: true,
    address: { host: options.host ?? variable(options.variables, 'HOST') ?? '127.0.0.1', port },
    onAnswered: (answered) => options.console.answered(answered),
    onServerError: (error, request) => options.console.failed(error, request),
  })
}

interface TakenOver {
  readonly migration: MigrationReport
  readonly scopes: readonly string[]
  readonly tryPath: string | undefined
  readonly refusal?: Parameters<DevConsole['refused']>[0]
  readonly diagnostics: readonly Diagnostic[]
}

/** Builds what the files hold now; without an error it is migrated, activated and served. */
async function takeOver(session: Session, files: readonly string[]): Promise<TakenOver> {
  const nothing = { migration: { applied: [], written: [] }, scopes: [], tryPath: undefined, diagnostics: [] }
  const { host, project, builder, server, options } = session
  try {
    let built = await buildProject(project, builder, options.variables)
    const { release, diagnostics } = built
    if (release === undefined || hasErrors(diagnostics)) return { ...nothing, refusal: { files, diagnostics } }
    const migration = await makeLock(host.system.database)('migrate', () =>
      migrateConnections({ host, release, plugins: built.plugins, folder: options.folder }),
    )
    if (migration.written.length > 0) built = await buildProject(project, builder, options.variables)
    const { activated } = await activateRelease(host.system, release, { by: 'dev' })
    const stored = await loadActiveRelease(host.system)
    if (stored !== undefined) await server.serveRelease(stored, release.artifacts)
    if (activated) await pruneDevelopmentReleases(host.system)
    const open = release.manifest.routes.find(
      (route) => !route.path.includes(':') && route.methods.some((method) => method.method === 'GET' && method.public),
    )
    return { migration, diagnostics, scopes: Object.keys(release.manifest.scopes), tryPath: open?.path }
  } catch (error) {
    return { ...nothing, refusal: { files, diagnostics: [], error } }
  }
}

const settleMs = 15

/** Follows the files of the project; saves that come together are taken over together, one after another. */
function startWatching(session: Session): { reload(): Promise<void>; close(): Promise<void> } {
  const { options } = session
  const ignored = new Set(['node_modules', '.waypost', '.git'])
  const changed = new Set<string>()
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()

  const watcher = watch(options.folder, {
    ignoreInitial: true,
    ignored: (file) => ignored.has(path.relative(options.folder, file).split(path.sep)[0]!),
  })
  watcher.on('all', (_event, file) => {
    const name = path.relative(options.folder, file).split(path.sep).join('/')
    if (name.endsWith('/tables.ts') && name.startsWith('migrations/')) return
    changed.add(name)
    clearTimeout(timer)
    timer = setTimeout(() => void reload(), settleMs)
  })
  watcher.on('error', (error) => options.console.warned(`Files cannot be watched: ${messageOf(error)}`))

  function reload(): Promise<void> {
    running = running.then(async () => {
      const files = [...changed].sort()
      changed.clear()
      const began = performance.now()
      const { refusal, migration, scopes, diagnostics } = await takeOver(session, files)
      if (refusal !== undefined) return options.console.refused(refusal)
      await ensureDevelopmentUser(options.folder, session.host.system, scopes)
      options.console.reloaded({ files, diagnostics, migration, ms: performance.now() - began })
    })
    return running
  }

  return {
    reload,
    async close() {
      clearTimeout(timer)
      await watcher.close()
      await running
    },
  }
}

/** Delivers in the background. @returns the way to stop, which waits for what is under way */
function startDelivering({ options, host, server }: Session, { secrets }: Identity): () => Promise<void> {
  const stop = new AbortController()
  const running = executeEvents({
    system: host.system,
    secrets,
    outbound: server.outbound,
    clock: host.clock,
    userAgent,
    catalog: () => server.terms().catalog,
    settings: () => server.terms().settings,
    signal: stop.signal,
    watch: true,
    onAttempt: (attempt) => options.console.delivered(attempt),
  }).catch((error: unknown) => options.console.warned(`Events are not delivered: ${messageOf(error)}`))
  return async () => {
    stop.abort()
    await running
  }
}

