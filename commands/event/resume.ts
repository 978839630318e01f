import { Flags, HostCommand, plural } from '../../bin/cli/index.ts'
import type { WaitingDeliveries } from '../../src/operate/index.ts'

export default class EventResume extends HostCommand {
  static override description =
    'Send deliveries that are held\nissuer:change and doctor --restored hold deliveries, because System may be a copy.'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --cancel --yes',
  ]
  static override enableJsonFlag = true
  static override flags = {
    cancel: Flags.boolean({ description: 'Cancel the waiting deliveries, and send only later ones' }),
    yes: Flags.boolean({ char: 'y', description: 'Do not ask for confirmation' }),
  }

  async run(): Promise<unknown> {
    const { flags } = await this.parse(EventResume)
    const choice = flags.cancel ? 'cancel' : 'send'
    const { resumeHostDeliveries } = await import('../../src/operate/index.ts')
    const { openHost } = await import('../../src/host/index.ts')
    return this.withHost(openHost, async (host) => {
      this.noteTarget(host)
      const confirm = (waiting: WaitingDeliveries) => {
        this.noteWaiting(waiting, choice)
        return this.confirmChange(flags.cancel ? 'Cancel them?' : 'Send them?', { isConfirmed: flags.yes })
      }
      const resumed = await resumeHostDeliveries(host, { choice, confirm })
      if (resumed === undefined) return { resumed: false }
      const { waiting, cancelled } = resumed
      if (flags.cancel) this.print(`  Cancelled  ${plural(cancelled, 'delivery')}`)
      this.print('  Resumed    workers post deliveries')
      return { resumed: true, waiting: waiting.deliveries, cancelled, hosts: waiting.hosts }
    })
  }
}
