import { WaypostCommand, paint, wrap } from '../bin/cli/index.ts'
import { readEnvironment } from '../src/kit/index.ts'
import type { DoctorReport } from '../src/project/index.ts'

type Check = DoctorReport['checks'][number]

const indent = '        '
const words = { ok: 'ok', warn: 'warn', fail: 'FAIL', skip: 'skip' } as const

export default class Doctor extends WaypostCommand {
  static override description =
    'Look at everything that has to be right here: Node, project, System, secret, base URL, clock, release, events.'
  static override examples = ['<%= config.bin %> <%= command.id %>', '<%= config.bin %> <%= command.id %> --json']
  static override enableJsonFlag = true

  async run(): Promise<unknown> {
    await this.parse(Doctor)
    const folder = process.cwd()
    const { doctor } = await import('../src/project/index.ts')
    const report = await doctor({ folder, variables: readEnvironment(folder) })
    if (!report.ok) process.exitCode = 1
    for (const check of report.checks) this.#show(check)
    return report
  }

  #show({ state, message, next, command }: Check): void {
    const word = words[state].padEnd(6)
    const painted = state === 'fail' ? paint('red', word) : state === 'warn' ? paint('yellow', word) : word
    this.print(`  ${painted}${wrap(message, indent.length)}`)
    const advice = next === undefined ? [] : [wrap(next, indent.length)]
    if (command !== undefined) advice.push(paint('cyan', command))
    const fits = !wrap([next, command].join(' '), indent.length).includes('\n')
    if (advice.length > 0) this.print(indent + advice.join(fits ? ' ' : `\n${indent}`))
  }
}
