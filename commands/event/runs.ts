import { Args, Flags, HostCommand, formatSpan, formatWait, limitFlag, toPrintable } from '../../bin/cli/index.ts'
import type { ListedRun } from '../../src/operate/index.ts'

const states = ['pending', 'running', 'done', 'dead', 'cancelled'] as const

export default class EventRuns extends HostCommand {
  static override description = 'List runs of listeners, newest first'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> bill --state dead',
    '<%= config.bin %> <%= command.id %> bill --json',
  ]
  static override enableJsonFlag = true
  static override args = { listener: Args.string({ description: 'Name of the listener' }) }
  static override flags = {
    state: Flags.option({ options: states, description: 'Only runs in this state' })(),
    limit: limitFlag,
  }

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(EventRuns)
    const { listHostRuns, loadDatabaseTime } = await import('../../src/operate/index.ts')
    const { openHost } = await import('../../src/host/index.ts')
    return this.withHost(openHost, async (host) => {
      const { entry, next } = await listHostRuns(host, { ...flags, listener: args.listener })
      this.#show(entry, await loadDatabaseTime(host.system))
      if (next !== undefined) this.note(`\nShowing the first ${flags.limit}; use --limit to show more.`)
      return { runs: entry.map(toJson) }
    })
  }

  #show(runs: readonly ListedRun[], now: number): void {
    if (runs.length === 0) {
      this.note('No runs found. List the listeners with waypost event:list --listener.')
      return
    }
    const cells = (of: (run: ListedRun) => string) => runs.map(of)
    this.printTable([
      { title: 'RUN', cells: cells(({ id }) => id) },
      { title: 'STATE', cells: cells(({ state }) => state) },
      { title: 'LISTENER', cells: cells(({ listener }) => listener), narrow: 'wrap', order: 1 },
      { title: 'FAILURES', cells: cells(({ failures }) => String(failures)) },
      { title: 'WHEN', cells: cells((run) => describeTime(run, now)) },
      { title: 'RESULT', cells: cells(describeResult), narrow: 'cut', minWidth: 16 },
    ])
  }
}

/** When it is due, how long it has been running, or when it ended. */
function describeTime({ state, dueAt = 0, startedAt, finishedAt, createdAt }: ListedRun, now: number): string {
  if (state === 'running') return `for ${formatSpan(now - (startedAt ?? now))}`
  if (state !== 'pending') return `${formatSpan(now - (finishedAt ?? createdAt))} ago`
  return dueAt > now ? formatWait(dueAt - now) : 'due'
}

/** The last error or its progress; otherwise how long it took. */
function describeResult({ outcome, state, progress, progressText, latencyMs }: ListedRun): string {
  if (state === 'running' && progress !== undefined)
    return toPrintable(`${Math.round(progress * 100)} % ${progressText ?? ''}`.trim())
  if (outcome !== undefined) return toPrintable(outcome.split('\n', 1)[0]!)
  return latencyMs === undefined || state === 'pending' ? '-' : `${latencyMs} ms`
}

function toJson({
  createdAt,
  dueAt,
  startedAt,
  finishedAt,
  latencyMs,
  outcome,
  progress,
  progressText,
  ...run
}: ListedRun) {
  const time = (ms: number | undefined) => (ms === undefined ? null : new Date(ms).toISOString())
  return {
    ...run,
    created: time(createdAt),
    due: time(dueAt),
    started: time(startedAt),
    finished: time(finishedAt),
    latency_ms: latencyMs ?? null,
    outcome: outcome ?? null,
    progress: progress === undefined ? null : { value: progress, text: progressText ?? null },
  }
}
