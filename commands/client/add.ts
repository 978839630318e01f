import { Args, Flags, HostCommand, listFlag, paint } from '../../bin/cli/index.ts'

export default class ClientAdd extends HostCommand {
  static override description = 'Add an OAuth2 client and print its secret once'
  static override examples = [
    '<%= config.bin %> <%= command.id %> shop --user ann --scopes todo',
    '<%= config.bin %> <%= command.id %> site --user ann --redirect-uri https://example.com/cb',
    '<%= config.bin %> <%= command.id %> app --user ann --public --redirect-uri http://127.0.0.1/',
  ]
  static override enableJsonFlag = true
  static override args = { name: Args.string({ description: 'Name of the client', required: true }) }
  static override flags = {
    user: Flags.string({ description: 'Owner; the client acts as this user with client_credentials', required: true }),
    scopes: listFlag({ description: 'Scopes, separated by commas; by default all scopes of the owner' }),
    grants: listFlag({
      description:
        'Grants, separated by commas: client_credentials, authorization_code, refresh_token, password. Default: ' +
        'authorization_code,refresh_token with --redirect-uri or --public, otherwise client_credentials,refresh_token',
    }),
    'redirect-uri': Flags.string({
      description: 'Redirect URI for authorization_code, compared exactly; can be repeated',
      multiple: true,
    }),
    public: Flags.boolean({ description: 'Create a public client, which has no secret' }),
  }

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(ClientAdd)
    const { addHostClient } = await import('../../src/operate/index.ts')
    const { openHost } = await import('../../src/host/index.ts')
    return this.withHost(openHost, async (host) => {
      this.noteTarget(host)
      const client = await addHostClient(host, {
        name: args.name,
        user: flags.user,
        scopes: flags.scopes,
        grants: flags.grants,
        redirectUris: flags['redirect-uri'] ?? [],
        public: flags.public,
      })
      this.print(`  Client     ${paint('cyan', client.client_id)}`)
      if (client.client_secret !== undefined)
        this.print(`  Secret     ${paint('cyan', client.client_secret)}   (shown only once)`)
      this.print(`  Scopes     ${client.scopes.join(', ') || 'none'}`)
      this.print(`  Grants     ${client.grants.join(', ')}`)
      if (client.scopes.length === 0)
        this.note(
          `  A client without scopes cannot access anything. Give scopes to ${flags.user}, then add a client again.`,
        )
      return client
    })
  }
}
