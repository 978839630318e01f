import { Args, Flags, HostCommand, describeEnded, showRevoked } from '../../bin/cli/index.ts'

export default class TokenRevoke extends HostCommand {
  static override description =
    'Revoke a token, or all tokens of a user or client\nAll servers reject revoked tokens within one second. Thousands of tokens are revoked in batches; if the command is interrupted, run it again.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> 3f0c9a52-8c3e-4a53-9d2c-0f4be1b5c7aa',
    '<%= config.bin %> <%= command.id %> --user ann',
    '<%= config.bin %> <%= command.id %> --client shop',
  ]
  static override enableJsonFlag = true
  static override args = { jti: Args.string({ description: 'Id of the token, or the token itself' }) }
  static override flags = {
    user: Flags.string({ description: 'All tokens and sessions of this user' }),
    client: Flags.string({ description: 'All tokens of this client, by id or name' }),
  }

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(TokenRevoke)
    const given = [args.jti, flags.user, flags.client].filter((one) => one !== undefined)
    if (given.length !== 1) throw this.usageError('Specify one of JTI, --user and --client')
    const { openHost } = await import('../../src/host/index.ts')
    const { revokeHostTokens } = await import('../../src/operate/index.ts')
    return this.withHost(openHost, async (host) => {
      this.noteTarget(host)
      const request = { jti: args.jti, user: flags.user, client: flags.client }
      const { tokens, sessions } = await showRevoked((batches) => revokeHostTokens(host, request, batches))
      this.print(`  Revoked    ${describeEnded({ tokens, sessions })}`)
      return { revoked: tokens, sessions }
    })
  }
}
