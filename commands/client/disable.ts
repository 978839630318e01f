import { Args, Flags, HostCommand, describeEnded, showRevoked } from '../../bin/cli/index.ts'

export default class ClientDisable extends HostCommand {
  static override description =
    'Disable a client and end its subscriptions\nAll servers reject its tokens within one second.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> shop',
    '<%= config.bin %> <%= command.id %> 3f0c9a52-8c3e-4a53-9d2c-0f4be1b5c7aa --enable',
  ]
  static override enableJsonFlag = true
  static override args = { client: Args.string({ description: 'Id or name of the client', required: true }) }
  static override flags = {
    enable: Flags.boolean({
      description: 'Enable the client again, without restoring its tokens and subscriptions',
    }),
  }

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(ClientDisable)
    const { changeHostClientStatus } = await import('../../src/operate/index.ts')
    const { openHost } = await import('../../src/host/index.ts')
    return this.withHost(openHost, async (host) => {
      this.noteTarget(host)
      const status = flags.enable ? 'active' : 'disabled'
      const { client_id, name, ...ended } = await showRevoked((batches) =>
        changeHostClientStatus(host, { client: args.client, status }, batches),
      )
      this.print(`  ${flags.enable ? 'Enabled    ' : 'Disabled   '}${client_id}   ${name}`)
      if (!flags.enable) this.print(`  Ended      ${describeEnded(ended)}`)
      return { client_id, name, status, revoked: ended.tokens, subscriptions: ended.subscriptions }
    })
  }
}
