import { Args, Flags, WaypostCommand } from '../../bin/cli/index.ts'
import { readEnvironment } from '../../src/kit/index.ts'

export default class TokenRevoke extends WaypostCommand {
  static override description =
    'Revoke one token, or every token of a user or client. Every server refuses it within a second.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> 3f0c9a52-8c3e-4a53-9d2c-0f4be1b5c7aa',
    '<%= config.bin %> <%= command.id %> --user ann',
  ]
  static override enableJsonFlag = true
  static override args = { jti: Args.string({ description: 'Id of the token, or the token itself' }) }
  static override flags = {
    user: Flags.string({ description: 'Every token of this user' }),
    client: Flags.string({ description: 'Every token of this client' }),
  }

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(TokenRevoke)
    const given = [args.jti, flags.user, flags.client].filter((one) => one !== undefined)
    if (given.length !== 1) throw this.wrongUsage('One of JTI, --user and --client says which tokens to revoke')
    const { openHost, revokeHostTokens } = await import('../../src/server/index.ts')
    const folder = process.cwd()
    const host = await openHost({ folder, variables: readEnvironment(folder) })
    try {
      this.note(`  Target     ${host.system.target}`)
      const revoked = await revokeHostTokens(host, { jti: args.jti, user: flags.user, client: flags.client })
      this.print(`  Revoked    ${revoked === 1 ? '1 valid token' : `${revoked} valid tokens`}`)
      return { revoked }
    } finally {
      await host.close()
    }
  }
}
