import { Flags, HostCommand, plural } from '../../bin/cli/index.ts'

export default class EventCancel extends HostCommand {
  static override description =
    'Cancel the pending runs of a listener\nRuns of a removed or renamed listener wait until they are cancelled or deleted.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> --listener bill',
    '<%= config.bin %> <%= command.id %> --listener bill --yes',
  ]
  static override enableJsonFlag = true
  static override flags = {
    listener: Flags.string({ description: 'Name of the listener', required: true }),
    yes: Flags.boolean({ char: 'y', description: 'Do not ask for confirmation' }),
  }

  async run(): Promise<unknown> {
    const { flags } = await this.parse(EventCancel)
    const { cancelHostRuns } = await import('../../src/operate/index.ts')
    const { openHost } = await import('../../src/host/index.ts')
    return this.withHost(openHost, async (host) => {
      this.noteTarget(host)
      const confirm = (pending: number) =>
        this.confirmChange(`Cancel ${plural(pending, 'run')}?`, { isConfirmed: flags.yes })
      const cancelled = await cancelHostRuns(host, { listener: flags.listener, confirm })
      if (cancelled === undefined) return { cancelled: 0 }
      if (cancelled === 0) this.print(`  No run of ${flags.listener} is pending.`)
      else this.print(`  Cancelled  ${plural(cancelled, 'run')}`)
      return { cancelled }
    })
  }
}
