import { Args, HostCommand, paint } from '../../bin/cli/index.ts'

export default class ClientSecret extends HostCommand {
  static override description =
    'Generate a new client secret and print it once\nThe old secret stops working immediately; existing tokens stay valid.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> shop',
    '<%= config.bin %> <%= command.id %> 3f0c9a52-8c3e-4a53-9d2c-0f4be1b5c7aa --json',
  ]
  static override enableJsonFlag = true
  static override args = { client: Args.string({ description: 'Id or name of the client', required: true }) }

  async run(): Promise<unknown> {
    const { args } = await this.parse(ClientSecret)
    const { openHost } = await import('../../src/host/index.ts')
    const { renewHostClientSecret } = await import('../../src/operate/index.ts')
    return this.withHost(openHost, async (host) => {
      this.noteTarget(host)
      const { client_id, client_secret, name } = await renewHostClientSecret(host, args.client)
      this.print(`  Client     ${client_id}   ${name}`)
      this.print(`  Secret     ${paint('cyan', client_secret)}   (shown only once)`)
      this.note(`  If the old secret was stolen: waypost token:revoke --client ${client_id}`)
      return { client_id, client_secret }
    })
  }
}
