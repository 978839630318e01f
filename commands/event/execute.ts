import {
  Flags,
  ProgressLine,
  WaypostCommand,
  formatClock,
  formatFailedAttempt,
  plural,
  toPrintable,
} from '../../bin/cli/index.ts'
import { isWaypostError, messageOf, parseDuration, readEnvironment } from '../../src/kit/index.ts'
import type { AttemptReport, RunReport } from '../../src/operate/index.ts'
import type { Host } from '../../src/host/index.ts'
import type { Execution } from '../../src/jobs/index.ts'

const shownFailures = 20
const maxTimerMs = 2 ** 31 - 1

export default class EventExecute extends WaypostCommand {
  static override description =
    'Deliver all due events\nRun it from cron every minute. Without a terminal, only dead deliveries are printed.'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --watch --time-limit 55s',
    '<%= config.bin %> <%= command.id %> --json',
  ]
  static override enableJsonFlag = true
  static override flags = {
    watch: Flags.boolean({ description: 'Keep running when nothing is due, until the time limit or a signal' }),
    'time-limit': Flags.string({
      description: 'Start no more deliveries after this time, for example 55s',
      parse: async (text) => {
        if (parseDuration(text) === undefined)
          throw new Error(`"${text}" is not a valid duration. Write it as 55s, 10m or 1h.`)
        return text
      },
    }),
    listeners: Flags.integer({ description: 'Number of processes that run listeners', default: 1, min: 1, max: 64 }),
    concurrency: Flags.integer({ description: 'Maximum number of concurrent deliveries', min: 1, max: 10_000 }),
  }

  async run(): Promise<unknown> {
    const { flags } = await this.parse(EventExecute)
    const startedAt = performance.now()
    const limitMs = parseDuration(flags['time-limit'] ?? '')
    const stop = this.stopSignal()
    const signal =
      limitMs === undefined ? stop : AbortSignal.any([stop, AbortSignal.timeout(Math.min(limitMs, maxTimerMs))])
    const { executeHostEvents } = await import('../../src/jobs/index.ts')
    const host = await this.#open({ isPatient: flags.watch, signal })
    const counts = { attempted: 0, delivered: 0, retrying: 0, dead: 0 }
    const runs: Record<string, number> = {}
    const progress = new ProgressLine(process.stderr, () => `  ${describeCounts(counts)}   ${secondsSince(startedAt)}`)
    try {
      const failures: AttemptReport[] = []
      const execution = await executeHostEvents(host, {
        signal,
        watch: flags.watch,
        concurrency: flags.concurrency,
        listeners: flags.listeners,
        onRun: (run) => {
          runs[run.verdict] = (runs[run.verdict] ?? 0) + 1
          if (run.verdict === 'dead') progress.above(() => this.print(formatFailedRun(run)))
        },
        onAttempt: (attempt) => {
          counts.attempted++
          counts[attempt.outcome]++
          if (attempt.outcome === 'delivered') return
          if (process.stdout.isTTY && !flags.watch) storeFailure(failures, attempt)
          else if (process.stdout.isTTY || attempt.outcome === 'dead') progress.above(() => this.#showFailure(attempt))
        },
        onRecovered: () => progress.above(() => this.note('System is available again.')),
        onError: (error) => progress.above(() => this.note(`${messageOf(error)}. ${describeNext(error)}`)),
      })
      progress.end()
      if (process.stdout.isTTY)
        this.#show(execution, { failures, runs, durationMs: secondsSince(startedAt), isWatch: flags.watch })
      const { attempted, delivered, retrying, dead } = execution
      return { attempted, delivered, retrying, dead, ...(Object.keys(runs).length > 0 && { runs }) }
    } finally {
      progress.end()
      await host.close()
    }
  }

  /** A permanent worker waits for a database that is still starting. */
  async #open({ isPatient, signal }: { isPatient: boolean; signal: AbortSignal }): Promise<Host> {
    const { awaitHost, openHost } = await import('../../src/host/index.ts')
    const folder = process.cwd()
    const options = { folder, variables: readEnvironment(folder) }
    if (!isPatient) return openHost(options)
    return awaitHost({
      ...options,
      signal,
      onUnavailable: (error) => this.note(`${error.message}. Retrying for 60 s.`),
    })
  }

  /** Printed immediately. With cron only dead deliveries are printed, so that it sends mail for nothing else. */
  #showFailure(attempt: AttemptReport): void {
    this.print(`${process.stdout.isTTY ? '  ' : ''}${formatFailedAttempt(attempt)}`)
  }

  #show(execution: Execution, { failures, runs, durationMs, isWatch }: Shown): void {
    const { attempted, retrying, dead, waiting, nextDueAt } = execution
    if (execution.isHeld) {
      this.print(`  Deliveries are held: ${waiting} waiting. To send or cancel them: waypost event:resume`)
      return
    }
    if (Object.keys(runs).length > 0) this.print(`  Runs       ${describeRuns(runs)}`)
    if (attempted + dead === 0) {
      if (Object.keys(runs).length > 0) return
      this.print(`  Nothing is due.${describeWaiting(waiting, nextDueAt)}`)
      return
    }
    this.print(`  ${describeCounts(execution)}     ${durationMs}`)
    if (failures.length > 0) this.print()
    for (const outcome of ['retrying', 'dead']) {
      for (const failure of failures.filter((one) => one.outcome === outcome)) this.#showFailure(failure)
    }
    const more = isWatch ? 0 : retrying + dead - failures.length
    if (more > 0) this.print(`  and ${more} more; list them with waypost event:deliveries`)
  }
}

/** One line for a run that is not repeated. */
function formatFailedRun({ run, listener, attempt, reason = '' }: RunReport): string {
  return `${run}  ${listener}  dead after ${plural(attempt, 'run')}: ${toPrintable(reason.split('\n', 1)[0]!)}`
}

function describeRuns(runs: Readonly<Record<string, number>>): string {
  return Object.entries(runs)
    .map(([verdict, count]) => `${count} ${verdict}`)
    .join(', ')
}

interface Shown {
  readonly runs: Readonly<Record<string, number>>
  readonly failures: readonly AttemptReport[]
  readonly durationMs: string
  readonly isWatch: boolean
}

/** Stores the failures to print at the end: the first few of each outcome. */
function storeFailure(failures: AttemptReport[], attempt: AttemptReport): void {
  if (failures.filter(({ outcome }) => outcome === attempt.outcome).length < shownFailures) failures.push(attempt)
}

/** Due deliveries that are still waiting belong to paused or temporarily postponed subscriptions. */
function describeWaiting(count: number, nextDueAt: number | null): string {
  if (count === 0) return ''
  const next = nextDueAt !== null && nextDueAt > Date.now() ? `, the next at ${formatClock(nextDueAt)}` : ''
  return ` ${count} waiting${next}.`
}

function describeCounts({ attempted, delivered, retrying, dead }: Counts): string {
  return `${attempted} attempted   ${delivered} delivered   ${retrying} retrying   ${dead} dead`
}

type Counts = Pick<Execution, 'attempted' | 'delivered' | 'retrying' | 'dead'>

function secondsSince(startedAt: number): string {
  return `${((performance.now() - startedAt) / 1000).toFixed(1)} s`
}

function describeNext(error: unknown): string {
  return isWaypostError(error) && error.kind === 'user' ? 'The previous settings stay in use.' : 'Trying again.'
}
