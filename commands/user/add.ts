import { Args, Flags, HostCommand, listFlag, paint, readSecret } from '../../bin/cli/index.ts'
import { makeSecret } from '../../src/kit/index.ts'

export default class UserAdd extends HostCommand {
  static override description = 'Add a user'
  static override examples = [
    '<%= config.bin %> <%= command.id %> ann --scopes todo',
    '$ echo "$PASSWORD" | <%= config.bin %> <%= command.id %> ann --scopes todo --password-stdin',
  ]
  static override enableJsonFlag = true
  static override args = { name: Args.string({ description: 'Login name', required: true }) }
  static override flags = {
    email: Flags.string({ description: 'Email address of the user' }),
    scopes: listFlag({ description: 'Scopes in addition to the default ones, separated by commas' }),
    admin: Flags.boolean({ description: 'Grant all backend.* scopes' }),
    'password-stdin': Flags.boolean({
      description: 'Read the password from standard input instead of generating one',
    }),
  }

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(UserAdd)
    const given = flags['password-stdin'] ? await readSecret() : undefined
    const password = given ?? makeSecret(12)
    const { addHostUser, findUnusedScopes } = await import('../../src/operate/index.ts')
    const { openHost } = await import('../../src/host/index.ts')
    return this.withHost(openHost, async (host) => {
      this.noteTarget(host)
      const { name, email, scopes, admin } = { name: args.name, ...flags }
      const user = await addHostUser(host, { name, email, password, admin, scopes: scopes ?? [] })
      this.print(`  Added      ${user.name} with ${user.scopes.length === 0 ? 'no scope' : user.scopes.join(', ')}`)
      if (given === undefined) this.print(`  Password   ${paint('cyan', password)}   (shown only once)`)
      this.noteUnusedScopes(await findUnusedScopes(host, scopes ?? []))
      return { ...user, ...(given === undefined ? { password } : {}) }
    })
  }
}
