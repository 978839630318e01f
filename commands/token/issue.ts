import { Flags, HostCommand, listFlag } from '../../bin/cli/index.ts'

export default class TokenIssue extends HostCommand {
  static override description = 'Issue an access token for a user and print it'
  static override examples = [
    '<%= config.bin %> <%= command.id %> --user ann --scopes todo --expires 1h',
    '$ TOKEN=$(<%= config.bin %> <%= command.id %> --user ann)',
    '$ curl localhost:3000/todo -H "Authorization: Bearer $TOKEN"',
  ]
  static override enableJsonFlag = true
  static override flags = {
    user: Flags.string({ description: 'User of the token', required: true }),
    scopes: listFlag({ description: 'Scopes, separated by commas; default: all scopes of the user' }),
    expires: Flags.string({ description: 'Lifetime, for example 1h; at most 365d' }),
  }

  async run(): Promise<unknown> {
    const { flags } = await this.parse(TokenIssue)
    const { issueHostToken } = await import('../../src/operate/index.ts')
    const { openHost } = await import('../../src/host/index.ts')
    return this.withHost(openHost, async (host) => {
      const token = await issueHostToken(host, { user: flags.user, scopes: flags.scopes, expires: flags.expires })
      this.note(`  Token      ${token.jti}   until ${new Date(Date.now() + token.expires_in * 1000).toISOString()}`)
      this.print(token.access_token)
      return token
    })
  }
}
