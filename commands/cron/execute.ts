import { Args, HostCommand } from '../../bin/cli/index.ts'
import { isWaypostError, messageOf } from '../../src/kit/index.ts'
import type { CronExecution, CronjobReport } from '../../src/jobs/index.ts'

export default class CronExecute extends HostCommand {
  static override description = 'Run all due cronjobs once\nWithout a terminal, only failures are printed.'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> tidy',
    '<%= config.bin %> <%= command.id %> --json',
  ]
  static override enableJsonFlag = true
  static override args = {
    name: Args.string({ description: 'Run this cronjob now, even if it is not due' }),
  }

  async run(): Promise<unknown> {
    const { args } = await this.parse(CronExecute)
    const startedAt = performance.now()
    const signal = this.stopSignal()
    const { executeHostCronjobs } = await import('../../src/jobs/index.ts')
    const { openHost } = await import('../../src/host/index.ts')
    const { name } = args
    return this.withHost(openHost, async (host) => {
      const { reports, next } = await executeHostCronjobs(host, { name, signal })
      if (name !== undefined && reports.length > 0) {
        await (await import('../../src/operate/index.ts')).recordCronjobRun(host, name)
      }
      const failed = reports.filter(({ outcome }) => outcome === 'failed')
      if (failed.length > 0) process.exitCode ??= 1
      if (process.stdout.isTTY) this.#show({ reports, next }, (performance.now() - startedAt) / 1000)
      else for (const report of failed) this.print(describe(report))
      const counts = { ran: reports.length, done: reports.length - failed.length, failed: failed.length }
      return { ...counts, cronjobs: reports.map(toJson) }
    })
  }

  #show({ reports, next }: CronExecution, seconds: number): void {
    if (reports.length === 0) {
      this.print(`  Nothing is due.${next === undefined ? '' : ` Next: ${next.name}, ${describeTime(next.at)}.`}`)
      return
    }
    const failed = reports.filter(({ outcome }) => outcome === 'failed').length
    const counts = `${reports.length} ran   ${reports.length - failed} done   ${failed} failed`
    this.print(`  ${counts}     ${seconds.toFixed(1)} s\n`)
    for (const report of reports) this.print(`  ${describe(report)}`)
  }
}

function describe({ name, slot, outcome, ms, error }: CronjobReport): string {
  const reason = outcome === 'done' ? '' : `   ${reasonOf(error)}`
  return `${outcome.padEnd(6)}  ${name}   for ${describeTime(slot)}   ${(ms / 1000).toFixed(1)} s${reason}`
}

/** Returns the message with its location in the project. */
function reasonOf(error: unknown): string {
  const place = /waypost:\/\/\/([^\s()]+)/.exec(error instanceof Error ? (error.stack ?? '') : '')?.[1]
  const isPlain = !(error instanceof Error) || isWaypostError(error) || /^(Error|ActionProblem)$/.test(error.name)
  const message = (isPlain ? messageOf(error) : String(error)).replaceAll(/\s*\n\s*/g, ' ')
  return place === undefined ? message : `${message} (${place})`
}

function toJson({ name, slot, outcome, ms, error }: CronjobReport) {
  const end = outcome === 'failed' ? { error: reasonOf(error) } : {}
  return { name, slot: new Date(slot).toISOString(), outcome, ms: Math.round(ms), ...end }
}

/** Formats a local time, with the date if it is not today. */
function describeTime(ms: number): string {
  const date = new Date(ms)
  const time = date.toTimeString().slice(0, 8)
  if (date.toDateString() === new Date().toDateString()) return time
  const two = (value: number) => String(value).padStart(2, '0')
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${time}`
}
