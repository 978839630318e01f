import {
  Args,
  Flags,
  HostCommand,
  confirm,
  describeEnded,
  paint,
  plural,
  readSecret,
  showRevoked,
} from '../../bin/cli/index.ts'
import { makeSecret } from '../../src/kit/index.ts'

export default class UserPassword extends HostCommand {
  static override description = "Change the password of a user\nEnds the user's tokens, logins and sessions."
  static override examples = [
    '<%= config.bin %> <%= command.id %> ann',
    '$ echo "$PASSWORD" | <%= config.bin %> <%= command.id %> ann --password-stdin --end-clients',
  ]
  static override enableJsonFlag = true
  static override args = { name: Args.string({ description: 'Name of the user', required: true }) }
  static override flags = {
    'password-stdin': Flags.boolean({
      description: 'Read the password from standard input instead of generating one',
    }),
    'end-clients': Flags.boolean({
      description: "Disable the user's clients that use client_credentials. Default: ask on a terminal",
      allowNo: true,
    }),
    'end-subscriptions': Flags.boolean({
      description: "Disable the user's subscriptions. Default: ask on a terminal",
      allowNo: true,
    }),
    'keep-tokens': Flags.boolean({ description: "Keep the user's tokens; sessions of the login page still end" }),
  }

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(UserPassword)
    const given = flags['password-stdin'] ? await readSecret() : undefined
    const password = given ?? makeSecret(12)
    const { changeHostUserPassword, countHostPasswordlessAccess } = await import('../../src/operate/index.ts')
    const { openHost } = await import('../../src/host/index.ts')
    return this.withHost(openHost, async (host) => {
      this.noteTarget(host)
      const active = await countHostPasswordlessAccess(host, args.name)
      const programs = `${plural(active.clients, 'client')} with client_credentials`
      const listeners = plural(active.subscriptions, 'subscription')
      const ends = {
        endClients: flags['end-clients'] ?? (active.clients > 0 && (await this.#offer(programs))),
        endSubscriptions: flags['end-subscriptions'] ?? (active.subscriptions > 0 && (await this.#offer(listeners))),
      }
      const request = { name: args.name, password, keepTokens: flags['keep-tokens'], ...ends }
      const { name, ...ended } = await showRevoked((batches) => changeHostUserPassword(host, request, batches))
      const { tokens, sessions, clients, subscriptions } = ended
      this.print(`  Changed    the password of ${name}`)
      if (given === undefined) this.print(`  Password   ${paint('cyan', password)}   (shown only once)`)
      this.print(`  Ended      ${describeEnded(ended)}`)
      if (clients < active.clients) this.note(`  Active     ${programs}: waypost client:list --user ${name}`)
      if (subscriptions < active.subscriptions) {
        this.note(`  Active     ${listeners}: waypost subscription:list --user ${name}`)
      }
      return { name, revoked: tokens, sessions, clients, subscriptions, ...(given === undefined ? { password } : {}) }
    })
  }

  /** Offers to revoke access that remains valid after a password change. */
  async #offer(what: string): Promise<boolean> {
    return this.isInteractive() && (await confirm(`  Disable ${what} too?`))
  }
}
