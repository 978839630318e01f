import path from 'node:path'
import pino from 'pino'
import { openBuilder } from '../build/index.ts'
import { variable, version } from '../kit/index.ts'
import {
  catchStrayFailures,
  openHost,
  readLogLevel,
  readPort,
  startServer,
  type WaypostServer,
} from '../server/index.ts'
import { makeLock } from '../store/index.ts'
import { assertDevelopment, claimDevelopment } from './claim-development.ts'
import type { DevStarted } from './dev-console.ts'
import type { DevOptions, DevSession } from './dev-options.ts'
import { ensureDevelopmentUser } from './development-user.ts'
import { findFreePort } from './find-free-port.ts'
import { findProject } from './find-project.ts'
import { followSaves } from './follow-saves.ts'
import { migrateOwnTables, type AppliedMigration } from './migrate.ts'
import { startDelivering } from './start-delivering.ts'
import { makeTakeOver, type TakenOver } from './take-over.ts'

export interface DevServer {
  readonly url: string
  /** Builds and serves what the files hold now, as if something had been saved. */
  reload(): Promise<void>
  close(): Promise<void>
}

/** Watches a project and serves every save that has no error, until it is closed. */
export async function dev(options: DevOptions): Promise<DevServer> {
  const began = performance.now()
  const closers: (() => Promise<unknown> | void)[] = []
  const close = async () => {
    for (const step of closers.splice(0).toReversed()) await step()
  }
  try {
    const { session, own } = await openSession(options, closers)
    const { project, server } = session
    const builder = openBuilder({ ...project, version })
    closers.push(() => builder.close())
    const takeOver = makeTakeOver({ project, builder, server, variables: options.variables })
    const first = await takeOver()
    const user = await ensureDevelopmentUser(options.folder, server.host.system, 'refused' in first ? [] : first.scopes)
    if (options.deliver) closers.push(startDelivering(session))
    const watching = await followSaves(session, { first, takeOver })
    closers.push(() => watching.close())
    const news = { ...describeStart(session, first, own), user, ms: performance.now() - began }
    options.console.started(news)
    if ('refused' in first) options.console.refused({ ...first, files: [], isServing: false })
    return { url: news.url, reload: watching.flush, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Everything but the project itself: System, identity, and a server that listens. */
async function openSession(
  options: DevOptions,
  closers: (() => Promise<unknown> | void)[],
): Promise<{ session: DevSession; own: readonly AppliedMigration[] }> {
  const { folder, variables, console } = options
  const project = findProject(folder)
  // The issuer names the port, so it has to be known before anything listens.
  const port = readPort(variables, options.port) || (await findFreePort())
  const host = await openHost({ folder, variables, create: true, unmigrated: true })
  closers.push(() => host.close())
  await assertDevelopment(host)
  const own = await makeLock(host.system.database)('migrate', () => migrateOwnTables(host))
  const identity = await claimDevelopment(host, port)
  closers.push(
    catchStrayFailures({
      onRejection: (error) => console.strayed(error),
      onException: (error) => console.strayed(error),
    }),
  )
  const server = await startDevServer(options, { host, identity, port })
  closers.push(() => server.close())
  return { session: { options, project, host, identity, server }, own }
}

function startDevServer(
  { variables, host: address, console }: DevOptions,
  { host, identity, port }: Pick<DevSession, 'host' | 'identity'> & { port: number },
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

function describeStart(
  { options, project, host, server }: DevSession,
  first: TakenOver,
  own: readonly AppliedMigration[],
): Omit<DevStarted, 'user' | 'ms'> {
  const url = `http://${options.host ?? 'localhost'}:${server.port}`
  const done = 'refused' in first ? { applied: [], written: [] } : first.migration
  return {
    project: project.name,
    url,
    docs: server.terms().settings.docs === 'off' ? undefined : `${url}/docs`,
    target: path.relative(options.folder, host.system.target) || host.system.target,
    migration: { ...done, applied: [...own, ...done.applied] },
    delivers: options.deliver,
    suggestions: 'refused' in first ? [] : first.suggestions,
  }
}
