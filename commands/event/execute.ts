import { Flags, WaypostCommand } from '../../bin/cli/index.ts'
import { messageOf, parseDuration, readEnvironment } from '../../src/kit/index.ts'
import type { AttemptReport, Execution } from '../../src/server/index.ts'

const shownFailures = 20
const longestTimerMs = 2 ** 31 - 1

export default class EventExecute extends WaypostCommand {
  static override description =
    'Deliver every event that is due. Run it from cron each minute; without a terminal it prints dead deliveries only.'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --watch --time-limit 55s',
    '<%= config.bin %> <%= command.id %> --json',
  ]
  static override enableJsonFlag = true
  static override flags = {
    watch: Flags.boolean({ description: 'Go on when nothing is due, until the time limit or a signal' }),
    'time-limit': Flags.string({
      description: 'Start no delivery after this time, for example 55s',
      parse: async (text) => {
        if (parseDuration(text) === undefined) throw new Error(`"${text}" is no duration. Write it as 55s, 10m or 1h.`)
        return text
      },
    }),
    concurrency: Flags.integer({ description: 'Deliveries at once at most', min: 1, max: 10_000 }),
  }

  async run(): Promise<unknown> {
    const { flags } = await this.parse(EventExecute)
    const began = performance.now()
    const limitMs = parseDuration(flags['time-limit'] ?? '')
    const stop = this.stopSignal()
    const signal =
      limitMs === undefined ? stop : AbortSignal.any([stop, AbortSignal.timeout(Math.min(limitMs, longestTimerMs))])
    const { executeHostEvents, openHost } = await import('../../src/server/index.ts')
    const folder = process.cwd()
    const host = await openHost({ folder, variables: readEnvironment(folder) })
    try {
      const failures: AttemptReport[] = []
      const execution = await executeHostEvents(host, {
        signal,
        watch: flags.watch,
        concurrency: flags.concurrency,
        onAttempt: (attempt) => this.#attempted(attempt, failures),
        onError: (error) => this.note(`${messageOf(error)}. It is tried again.`),
      })
      if (process.stdout.isTTY) this.#show(execution, { failures, seconds: (performance.now() - began) / 1000 })
      const { attempted, delivered, retrying, dead } = execution
      return { attempted, delivered, retrying, dead }
    } finally {
      await host.close()
    }
  }

  /** On a terminal failures follow the numbers; for cron the dead ones are printed as they come. */
  #attempted(attempt: AttemptReport, failures: AttemptReport[]): void {
    if (attempt.outcome === 'delivered') return
    if (process.stdout.isTTY) {
      if (failures.filter(({ outcome }) => outcome === attempt.outcome).length < shownFailures) failures.push(attempt)
    } else if (attempt.outcome === 'dead') {
      this.print(describeFailure(attempt).trim())
    }
  }

  #show(execution: Execution, { failures, seconds }: { failures: readonly AttemptReport[]; seconds: number }): void {
    const { attempted, delivered, retrying, dead, waiting, nextDueAt } = execution
    if (attempted + dead === 0) {
      const next =
        nextDueAt === null ? '' : ` ${waiting} wait${waiting === 1 ? 's' : ''}, the next at ${clockTime(nextDueAt)}.`
      this.print(`  Nothing is due.${next}`)
      return
    }
    const counts = `${attempted} attempted   ${delivered} delivered   ${retrying} retrying   ${dead} dead`
    this.print(`  ${counts}     ${seconds.toFixed(1)} s`)
    if (failures.length > 0) this.print()
    for (const outcome of ['retrying', 'dead']) {
      for (const failure of failures.filter((one) => one.outcome === outcome)) this.print(describeFailure(failure))
    }
    const more = retrying + dead - failures.length
    if (more > 0) this.print(`  and ${more} more`)
  }
}

function describeFailure({ outcome, event, endpoint, attempt, result, delayMs, delivery }: AttemptReport): string {
  const reason = result.failure ?? String(result.status)
  const next = outcome === 'dead' ? delivery : `next ${clockTime(Date.now() + delayMs)} (attempt ${attempt + 1} of 4)`
  return `  ${outcome.padEnd(8)}  ${event} → ${endpoint}   ${reason}   ${next}`
}

function clockTime(ms: number): string {
  return new Date(ms).toTimeString().slice(0, 8)
}
