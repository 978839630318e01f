import { Flags, HostCommand, isChoice, plural, subscriptionChoice } from '../../bin/cli/index.ts'

export default class SubscriptionDelete extends HostCommand {
  static override description = 'Delete subscriptions and cancel their deliveries'
  static override examples = [
    '<%= config.bin %> <%= command.id %> sub_01KAK7W1R2M9ZQ4T7XBC',
    '<%= config.bin %> <%= command.id %> --user ann --client shop --yes',
  ]
  static override enableJsonFlag = true
  static override args = subscriptionChoice.args
  static override flags = {
    ...subscriptionChoice.flags,
    yes: Flags.boolean({ char: 'y', description: 'Do not ask for confirmation' }),
  }

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(SubscriptionDelete)
    const choice = { ...args, user: flags.user, client: flags.client }
    if (!isChoice(choice)) throw this.usageError('Specify a subscription, --user or --client')
    const { endHostSubscriptions } = await import('../../src/operate/index.ts')
    const { openHost } = await import('../../src/host/index.ts')
    return this.withHost(openHost, async (host) => {
      this.noteTarget(host)
      const what = choice.id === undefined ? 'all of these subscriptions' : `the subscription ${choice.id}`
      if (!(await this.confirmChange(`Delete ${what}?`, { isConfirmed: flags.yes }))) return { deleted: 0 }
      const count = await endHostSubscriptions(host, { ...choice, to: 'deleted' })
      this.print(`  Deleted    ${plural(count, 'subscription')}`)
      return { deleted: count }
    })
  }
}
