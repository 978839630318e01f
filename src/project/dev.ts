import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import path from 'node:path'
import pino from 'pino'
import { openBuilder } from '../build/index.ts'
import { executeEvents } from '../events/index.ts'
import { messageOf, userAgent, variable, version, type Variables } from '../kit/index.ts'
import {
  catchStrayFailures,
  openHost,
  openIdentity,
  readBaseUrl,
  readLogLevel,
  readPort,
  startServer,
  type Host,
  type Identity,
  type WaypostServer,
} from '../server/index.ts'
import { loadFacts, makeLock, replaceFact, storeFact } from '../store/index.ts'
import type { DevConsole } from './dev-console.ts'
import { ensureDevelopmentUser } from './development-user.ts'
import { errors } from './errors.ts'
import { findProject } from './find-project.ts'
import { migrateOwnTables } from './migrate.ts'
import { makeTakeOver, type TakenOver } from './take-over.ts'
import { watchProject, type Watching } from './watch-project.ts'

export interface DevOptions {
  readonly folder: string
  readonly variables: Variables
  readonly port?: number | undefined
  readonly host?: string | undefined
  /** Deliver events in the background. */
  readonly deliver: boolean
  readonly console: DevConsole
}

export interface DevServer {
  readonly url: string
  /** Builds and serves what the files hold now, as if something had been saved. */
  reload(): Promise<void>
  close(): Promise<void>
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
    const host = await openHost({
      folder: options.folder,
      variables: options.variables,
      create: true,
      unmigrated: true,
    })
    closers.push(() => host.close())
    await assertDevelopment(host)
    const own = await makeLock(host.system.database)('migrate', () => migrateOwnTables(host))
    const identity = await claimDevelopment(host, port)
    const builder = openBuilder({ ...project, version })
    closers.push(() => builder.close())
    closers.push(async () => letStrayFailuresGo())
    const letStrayFailuresGo = catchStrayFailures({
      onRejection: (error) => options.console.strayed(error),
      onException: (error) => options.console.strayed(error),
    })
    const server = await startDevServer(options, { host, identity, port })
    closers.push(() => server.close())

    const takeOver = makeTakeOver({ project, builder, server, variables: options.variables })
    const first = await takeOver()
    const user = await ensureDevelopmentUser(options.folder, host.system, 'refused' in first ? [] : first.scopes)
    if (options.deliver) closers.push(startDelivering(options, { server, identity }))
    const watching = await startWatching(options, { first, takeOver, server })
    closers.push(() => watching.close())
    const url = `http://${options.host ?? 'localhost'}:${server.port}`
    const done = 'refused' in first ? { applied: [], written: [] } : first.migration
    options.console.started({
      project: project.name,
      url,
      docs: server.terms().settings.docs === 'off' ? undefined : `${url}/docs`,
      user,
      target: path.relative(options.folder, host.system.target) || host.system.target,
      migration: { ...done, applied: [...own, ...done.applied] },
      delivers: options.deliver,
      tryPath: 'refused' in first ? undefined : first.tryPath,
      ms: performance.now() - began,
    })
    if ('refused' in first) options.console.refused({ ...first, files: [], isServing: false })
    return { url, reload: watching.flush, close }
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

/** A System that serves a deployment is left alone, its tables too. @throws WP_PROJECT_PRODUCTION */
async function assertDevelopment({ system }: Host): Promise<void> {
  const tables = await system.db.introspection.getTables()
  if (!tables.some(({ name }) => name === 'waypost_system')) return
  const { origin = 'development' } = await loadFacts(system)
  if (origin !== 'development') throw errors.WP_PROJECT_PRODUCTION({ target: system.target })
}

/** From now on this System belongs to development, and its issuer is where `dev` listens. */
async function claimDevelopment(host: Host, port: number): Promise<Identity> {
  const { system, variables } = host
  const issuer = readBaseUrl(variable(variables, 'WAYPOST_BASE_URL')) ?? `http://localhost:${port}`
  const origin = await storeFact(system, 'origin', 'development')
  if (origin !== 'development') throw errors.WP_PROJECT_PRODUCTION({ target: system.target })
  const facts = await loadFacts(system)
  if (facts.issuer !== issuer) await replaceFact(system, 'issuer', issuer)
  return openIdentity(host)
}

function startDevServer(
  { variables, host: address, console }: DevOptions,
  { host, identity, port }: { host: Host; identity: Identity; port: number },
): Promise<WaypostServer> {
  return startServer({
    host,
    identity,
    logger: pino({ level: readLogLevel(variables, 'silent') }),
    isDevelopment: true,
    address: { host: address ?? variable(variables, 'HOST') ?? '127.0.0.1', port },
    onAnswered: (answered) => console.answered(answered),
    onServerError: (error, request) => console.failed(error, request),
  })
}

interface WatchedSession {
  readonly first: TakenOver
  readonly server: WaypostServer
  takeOver(): Promise<TakenOver>
}

/** Takes over each save; says nothing of files that change nothing, for example one that this output goes to. */
function startWatching(
  { folder, console }: DevOptions,
  { first, takeOver, server }: WatchedSession,
): Promise<Watching> {
  let last = first
  let isServing = !('refused' in first)
  const reload = async (changed: readonly string[]) => {
    const began = performance.now()
    const before = last
    last = await takeOver()
    const sources = changed.filter(isSource)
    if (last.state === before.state && changed.length > 0 && sources.length === 0) return
    const files = sources.length === 0 ? changed : sources
    if ('refused' in last) return console.refused({ ...last, files, isServing })
    isServing = true
    await ensureDevelopmentUser(folder, server.host.system, last.scopes)
    const { diagnostics, migration } = last
    console.reloaded({ files, diagnostics, migration, isMended: 'refused' in before, ms: performance.now() - began })
  }
  return watchProject(folder, {
    onChange: (files) => {
      if (files.includes('.env')) console.warned('.env is read when dev starts: start it again to use what changed.')
      return reload(files).catch((error: unknown) => console.refused({ files, diagnostics: [], error, isServing }))
    },
    // From a save on requests wait until it was taken over: none sees code that is already gone.
    onBegin: (file) => (isSource(file) ? server.hold() : () => undefined),
    onError: (error) => console.warned(`Files cannot be watched: ${messageOf(error)}`),
  })
}

/** Who saves one of these wants to see that it was noticed. */
function isSource(file: string): boolean {
  return /\.([cm]?[jt]s|ya?ml|json)$/.test(file) && !file.startsWith('test/')
}

/** Delivers in the background. @returns the way to stop, which waits for what is under way */
function startDelivering(
  { console }: DevOptions,
  { server, identity }: { server: WaypostServer; identity: Identity },
): () => Promise<void> {
  const stop = new AbortController()
  const { host, outbound } = server
  const running = executeEvents({
    system: host.system,
    secrets: identity.secrets,
    outbound,
    clock: host.clock,
    userAgent,
    catalog: () => server.terms().catalog,
    settings: () => server.terms().settings,
    signal: stop.signal,
    watch: true,
    onAttempt: (attempt) => console.delivered(attempt),
    onError: (error) => console.warned(`Events wait: ${messageOf(error)}`),
  }).catch((error: unknown) => console.warned(`Events are not delivered: ${messageOf(error)}`))
  return async () => {
    stop.abort()
    await running
  }
}
