import { Flags, HostCommand, isChoice, plural, subscriptionChoice } from '../../bin/cli/index.ts'

export default class SubscriptionDisable extends HostCommand {
  static override description = 'Disable subscriptions and cancel their deliveries'
  static override examples = [
    '<%= config.bin %> <%= command.id %> sub_01KAK7W1R2M9ZQ4T7XBC',
    '<%= config.bin %> <%= command.id %> --client shop',
    '<%= config.bin %> <%= command.id %> --user ann --enable',
  ]
  static override enableJsonFlag = true
  static override args = subscriptionChoice.args
  static override flags = {
    ...subscriptionChoice.flags,
    enable: Flags.boolean({ description: 'Enable the subscriptions again, regardless of why they were disabled' }),
  }

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(SubscriptionDisable)
    const choice = { ...args, user: flags.user, client: flags.client }
    if (!isChoice(choice)) throw this.usageError('Specify a subscription, --user or --client')
    const { enableHostSubscriptions, endHostSubscriptions } = await import('../../src/operate/index.ts')
    const { openHost } = await import('../../src/host/index.ts')
    return this.withHost(openHost, async (host) => {
      this.noteTarget(host)
      const count = flags.enable
        ? await enableHostSubscriptions(host, choice)
        : await endHostSubscriptions(host, { ...choice, to: 'barred' })
      this.print(`  ${flags.enable ? 'Enabled    ' : 'Disabled   '}${plural(count, 'subscription')}`)
      return flags.enable ? { enabled: count } : { disabled: count }
    })
  }
}
