import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import pino from 'pino'
import { makeConnectionRegistry } from '../../../src/connection/index.ts'
import { definePlugin, type Action, type Context, type MakeOptions, type Request } from '../../../src/contract/index.ts'
import { isWaypostError } from '../../../src/kit/index.ts'
import { makeConfigPreparer } from '../../../src/plugin/index.ts'
import { activateRelease, loadActiveRelease, loadArtifacts, type ManifestCronjob } from '../../../src/release/index.ts'
import { openHost, type Host, type LoadPlugins } from '../../../src/host/index.ts'
import { prepareTestHost } from '../../../src/server/index.ts'
import type { CronjobReport } from '../../../src/jobs/index.ts'
import { CronScheduler, type SchedulerOptions } from '../../../src/jobs/cronjobs/scheduler.ts'
import { openCronjobs, type CronjobSet } from '../../../src/jobs/cronjobs/open-cronjobs.ts'
import { systemConnection } from '../../../src/host/system-connection.ts'
import { emptyManifest } from '../../release/system.ts'
import { makeTestClock, type TestClock } from '../../support/clock.ts'
import { loadingPlugins, testServices } from '../../support/plugins.ts'
import { copySystem } from '../../support/migrated.ts'
import { until } from '../../support/until.ts'

/** What the action of a cronjob does; the name says which. */
export type Work = (request: Request<'cronjob'>, context: Context) => Promise<unknown>

/** One machine that runs cronjobs. */
export interface Machine {
  readonly host: Host
  readonly cron: CronScheduler
  readonly reports: CronjobReport[]
  readonly logs: Record<string, unknown>[]
  readonly errors: unknown[]
  /** Loads the active release and runs its cronjobs. */
  follow(): Promise<CronjobSet>
  close(): Promise<void>
}

export interface World extends AsyncDisposable {
  readonly host: Host
  /** Every run that began: `name slot`. */
  readonly runs: string[]
  /** The clock of System; `start` lets it go on from a moment. */
  readonly clock: {
    set(time: string): void
    forward(minutes: number): void
    start(time: string): void
  } & Pick<TestClock, 'freeze' | 'pass'>
  deploy(cronjobs: Readonly<Record<string, Cronjobish>>): Promise<void>
  open(options?: Partial<SchedulerOptions>, own?: Own): Promise<Machine>
  row(name: string): Promise<Row | undefined>
  /** Replaces what the action of a cronjob does. */
  readonly work: Record<string, Work>
}

/** What a machine has of its own. */
interface Own {
  /** Another way to the same System. */
  readonly url?: string
  readonly variables?: Readonly<Record<string, string>>
}

type Row = NonNullable<Awaited<ReturnType<typeof loadRow>>>
type Cronjobish = string | Omit<ManifestCronjob, 'action'>

/** A System with cronjobs whose code stands in the test, and a clock that stands still until it is turned. */
export async function openWorld(systemUrl: string): Promise<World> {
  const folder = await mkdtemp(path.join(tmpdir(), 'waypost-cron-'))
  const closers: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true })]
  let now = Date.parse('2026-11-20T10:00:30Z')
  let startedAt: number | undefined
  const passed = () => (startedAt === undefined ? 0 : performance.now() - startedAt)
  const { monotonic, freeze, pass } = makeTestClock()
  const clock = { now: () => now + passed(), monotonic }
  const connect = ({ url = systemUrl, variables = {} }: Own = {}) => {
    const all = { ...variables, WAYPOST_SYSTEM_URL: url }
    return openHost({ folder, variables: all, create: true, unmigrated: true, disposable: true, clock })
  }
  await copySystem(systemUrl, folder)
  const host = await connect()
  closers.push(() => host.close())
  await prepareTestHost(host)
  const runs: string[] = []
  const work: Record<string, Work> = {}
  const loadPlugins = loadingPlugins([makePlugin(runs, work)])

  return {
    host,
    runs,
    work,
    clock: {
      set: (time) => void (now = Date.parse(time)),
      start(time) {
        now = Date.parse(time)
        startedAt = performance.now()
      },
      forward: (minutes) => void (now += minutes * 60_000),
      freeze,
      pass,
    },
    async deploy(cronjobs) {
      const entries = Object.entries(cronjobs).map(([name, job]) => [
        name,
        { ...(typeof job === 'string' ? { schedule: job } : job), action: { class: 'work', config: { name } } },
      ])
      const manifest = { ...emptyManifest, cronjobs: Object.fromEntries(entries), events: { happened: {} } }
      await activateRelease(host.system, { manifest, artifacts: [] }, { by: 'test' })
    },
    async open(options = {}, own = {}) {
      const machine = startMachine(await connect(own), loadPlugins, options)
      closers.push(() => machine.close())
      return machine
    },
    row: (name) => loadRow(host, name),
    async [Symbol.asyncDispose]() {
      for (const step of closers.splice(0).toReversed()) await step()
    },
  }
}

function makePlugin(runs: string[], work: Readonly<Record<string, Work>>) {
  const make = ({ config: { name } }: MakeOptions<{ name: string }>): Action => ({
    async handle(request, context) {
      const { cronjob, slot } = request.params
      runs.push(`${cronjob} ${String(slot).slice(0, 16)}`)
      return work[name]?.(request, context)
    },
  })
  const actions = { work: { description: 'Works', config: {}, make } }
  return definePlugin({ name: 'work', requires: '*', actions })
}

function startMachine(host: Host, loadPlugins: LoadPlugins, options: Partial<SchedulerOptions>): Machine {
  const logs: Record<string, unknown>[] = []
  const reports: CronjobReport[] = []
  const errors: unknown[] = []
  const logger = pino({ level: 'debug' }, { write: (line) => void logs.push(JSON.parse(line)) })
  const registry = makeConnectionRegistry({
    variables: host.variables,
    folder: host.folder,
    log: logger,
    services: testServices,
    builtIn: { System: systemConnection(host.system) },
  })
  const sources = {
    host,
    loadPlugins,
    services: testServices,
    prepareConfig: makeConfigPreparer(host.variables),
    registry,
    isDevelopment: false,
    onClosed: () => undefined,
  }
  const cron = new CronScheduler({
    system: host.system,
    clock: host.clock,
    logger,
    secrets: new Set(),
    leaseMs: 60_000,
    fromNow: false,
    maxWaitMs: 5,
    onRan: (report) => void reports.push(report),
    onError: (error) => void errors.push(error),
    ...options,
  })
  let isClosed = false
  return {
    host,
    cron,
    reports,
    logs,
    errors,
    async follow() {
      const set = await openCronjobs(sources, await loadActive(host))
      cron.follow(set)
      return set
    },
    async close() {
      if (isClosed) return
      isClosed = true
      await cron.stop()
      await registry.close()
      await host.close()
    },
  }
}

function loadRow({ system }: Host, name: string) {
  return system.db.selectFrom('waypost_cronjob').selectAll().where('name', '=', name).executeTakeFirst()
}

export function codeOf(error: unknown): string | undefined {
  return isWaypostError(error) ? error.code : undefined
}

/** Waits long enough for what should not happen to happen. */
export const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 60))

async function loadActive({ system }: Host) {
  const release = (await loadActiveRelease(system))!
  return { release, artifacts: await loadArtifacts(system, release, release.manifest.artifacts) }
}

export const everyMinute = '* * * * *'

/** Opens a world with a release that has cronjobs. */
export async function openReleased(
  systemUrl: string,
  cronjobs: Parameters<World['deploy']>[0] = { tick: everyMinute },
): Promise<World> {
  const world = await openWorld(systemUrl)
  await world.deploy(cronjobs)
  return world
}

/** Waits until the first look of a machine has been taken. */
export const known = (world: World, name = 'tick') =>
  until(`${name} is known`, async () => (await world.row(name)) !== undefined)
