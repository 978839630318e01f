import {
  deliveriesFlag,
  Flags,
  HostCommand,
  formatSpan,
  formatTable,
  paint,
  plural,
  showRevoked,
  wrap,
} from '../bin/cli/index.ts'
import { readEnvironment } from '../src/kit/index.ts'
import type { BundledPackage, DoctorReport } from '../src/project/index.ts'
import type { DeliveryChoice, RestoredSystem } from '../src/operate/index.ts'

type Check = DoctorReport['checks'][number]

const indent = '        '
const words = { ok: 'ok', warn: 'warn', fail: 'FAIL', skip: 'skip' } as const

export default class Doctor extends HostCommand {
  static override description =
    'Check the installation and the project for problems\nChecks Node, project, System, secret, base URL, clock, release, cronjobs and events.'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --json',
    '<%= config.bin %> <%= command.id %> --restored --revoke-tokens',
    '<%= config.bin %> <%= command.id %> --packages',
  ]
  static override enableJsonFlag = true
  static override flags = {
    restored: Flags.boolean({
      description: 'Clear the caches of all servers after restoring a backup of System',
    }),
    'revoke-tokens': Flags.boolean({
      description:
        'With --restored: also revoke all tokens, because tokens that were revoked after the backup are valid again',
      dependsOn: ['restored'],
    }),
    deliveries: deliveriesFlag({ dependsOn: ['restored'] }),
    yes: Flags.boolean({ char: 'y', description: 'Do not ask for confirmation', dependsOn: ['restored'] }),
    packages: Flags.boolean({
      description: 'List the packages inside Waypost with their versions and licenses',
      exclusive: ['restored'],
    }),
  }

  async run(): Promise<unknown> {
    const { flags } = await this.parse(Doctor)
    if (flags.packages) return this.#listPackages()
    if (flags.restored) {
      const { yes: isConfirmed, 'revoke-tokens': revokeTokens, deliveries } = flags
      return this.#restore({ isConfirmed, revokeTokens, deliveries })
    }
    const folder = process.cwd()
    const { doctor } = await import('../src/project/index.ts')
    const report = await doctor({ folder, variables: readEnvironment(folder) })
    if (!report.ok) process.exitCode = 1
    for (const check of report.checks) this.#show(check)
    return report
  }

  async #listPackages(): Promise<unknown> {
    const { readBillOfMaterials } = await import('../src/project/index.ts')
    const packages = await readBillOfMaterials()
    if (this.jsonEnabled()) return packages
    const cells = (of: (one: BundledPackage) => string) => packages.map(of)
    const lines = formatTable(
      [
        { title: 'PACKAGE', cells: cells(({ name }) => name), narrow: 'wrap', order: 0, minWidth: 20 },
        { title: 'VERSION', cells: cells(({ version }) => version) },
        { title: 'LICENSE', cells: cells(({ licence }) => licence), narrow: 'wrap', order: 1, minWidth: 12 },
        { title: 'PART', cells: cells(({ part }) => part) },
      ],
      process.stdout.columns ?? Number.POSITIVE_INFINITY,
    )
    for (const line of lines) this.print(line)
    return packages
  }

  async #restore({ isConfirmed, revokeTokens, deliveries }: RestoreFlags): Promise<unknown> {
    const { assertSystemRestored, declareRestored } = await import('../src/operate/index.ts')
    const { openHost } = await import('../src/host/index.ts')
    const folder = process.cwd()
    assertSystemRestored({ folder, variables: readEnvironment(folder) }) // first: opening the file would apply a log beside it
    return this.withHost(openHost, async (host) => {
      this.noteTarget(host)
      const confirm = (restored: RestoredSystem) => {
        this.#explain(restored, host.clock.now())
        const what = revokeTokens ? 'Revoke all tokens and clear' : 'Clear'
        return this.confirmChange(`${what} the caches of all servers?`, { isConfirmed })
      }
      const restored = await showRevoked((batches) =>
        declareRestored(host, { revokeTokens, deliveries, confirm, ...batches }),
      )
      if (restored === undefined) return { restored: false }
      const { backupAt, waiting, choice, cancelled: _, ...counts } = restored
      const alive = { ...counts, deliveries: waiting.deliveries }
      this.print('  Restored   caches of all servers cleared')
      if (revokeTokens) this.print(`  Revoked    ${countAlive(restored)}`)
      if (restored.choice === 'cancel') this.print(`  Cancelled  ${plural(restored.cancelled, 'delivery')}`)
      this.#advise(revokeTokens)
      this.adviseHeld(restored.choice)
      const backup = backupAt === undefined ? null : new Date(backupAt).toISOString()
      return { restored: true, backup, alive, revoked: revokeTokens, deliveries: { choice, hosts: waiting.hosts } }
    })
  }

  #explain(restored: RestoredSystem, now: number): void {
    const { backupAt, users, clients, waiting, choice } = restored
    const age = backupAt === undefined ? 'of unknown age' : `from ${formatSpan(now - backupAt)} ago or later`
    this.note(`  Backup     ${age}`)
    this.note(`  Active     ${countAlive(restored)}, ${plural(users, 'user')}, ${plural(clients, 'client')}`)
    this.noteWaiting(waiting, choice)
    this.note(
      `\n  ${wrap('Everything that was revoked, disabled or removed after the backup is active again. System has no record of it.', 2, process.stderr)}\n`,
    )
  }

  #advise(isRevoked: boolean): void {
    this.note('\n  Next       repeat what was revoked or disabled after the backup:')
    const lines = [
      ...(isRevoked ? [] : ['waypost token:revoke --user NAME', 'waypost token:revoke --client CLIENT']),
      'waypost user:disable NAME',
      'waypost client:disable CLIENT',
      'waypost key:rotate',
    ]
    for (const line of lines) this.note(`             ${paint('cyan', line, process.stderr)}`)
    if (!isRevoked) this.note('             or revoke all tokens: waypost doctor --restored --revoke-tokens')
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

interface RestoreFlags {
  readonly isConfirmed: boolean
  readonly revokeTokens: boolean
  readonly deliveries: DeliveryChoice | undefined
}

function countAlive({ tokens, families, sessions }: RestoredSystem): string {
  return [plural(tokens, 'valid token'), plural(families, 'login'), plural(sessions, 'session')].join(', ')
}
