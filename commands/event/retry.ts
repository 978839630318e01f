import { Args, HostCommand } from '../../bin/cli/index.ts'

export default class EventRetry extends HostCommand {
  static override description =
    'Make a pending delivery or run due now\nThis does not change the number of remaining attempts.'
  static override examples = ['<%= config.bin %> <%= command.id %> dlv_01KAK7W1R2M9ZQ4T7XBC']
  static override enableJsonFlag = true
  static override args = { delivery: Args.string({ description: 'Id of a delivery or run', required: true }) }

  async run(): Promise<unknown> {
    const { args } = await this.parse(EventRetry)
    const { openHost } = await import('../../src/host/index.ts')
    return this.withHost(openHost, async (host) => {
      this.noteTarget(host)
      const { retryHostDelivery, retryHostRun } = await import('../../src/operate/index.ts')
      await (args.delivery.startsWith('run_') ? retryHostRun : retryHostDelivery)(host, args.delivery)
      this.print(`  Due now    ${args.delivery}`)
      return { delivery: args.delivery }
    })
  }
}
