import { Args, Flags, HostCommand, describeEnded, paint, readSecret } from '../../bin/cli/index.ts'
import { makeSecret } from '../../src/kit/index.ts'

export default class UserPassword extends HostCommand {
  static override description = 'Change the password of a user and end its tokens, logins and sessions.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> ann',
    'echo "$PASSWORD" | <%= config.bin %> <%= command.id %> ann --password-stdin',
  ]
  static override enableJsonFlag = true
  static override args = { name: Args.string({ description: 'Name of the user', required: true }) }
  static override flags = {
    'password-stdin': Flags.boolean({
      description: 'Read the password from standard input; else one is made and printed once',
    }),
    'end-clients': Flags.boolean({ description: "Disable the user's clients that use client_credentials" }),
    'end-subscriptions': Flags.boolean({ description: "Disable the user's subscriptions" }),
    'keep-tokens': Flags.boolean({ description: 'Leave its tokens as they are; sessions of the login page end' }),
  }

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(UserPassword)
    const given = flags['password-stdin'] ? await readSecret() : undefined
    const password = given ?? makeSecret(12)
    const { changeHostUserPassword } = await import('../../src/operate/index.ts')
    const { openHost } = await import('../../src/host/index.ts')
    return this.withHost(openHost, async (host) => {
      this.noteTarget(host)
      const ends = { endClients: flags['end-clients'], endSubscriptions: flags['end-subscriptions'] }
      const request = { name: args.name, password, keepTokens: flags['keep-tokens'], ...ends }
      const { name, ...ended } = await changeHostUserPassword(host, request)
      const { tokens, sessions, clients, subscriptions } = ended
      this.print(`  Changed    the password of ${name}`)
      if (given === undefined) this.print(`  Password   ${paint('cyan', password)}   (shown this once)`)
      this.print(`  Ended      ${describeEnded(ended)}`)
      return { name, revoked: tokens, sessions, clients, subscriptions, ...(given === undefined ? { password } : {}) }
    })
  }
}
