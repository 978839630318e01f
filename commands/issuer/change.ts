import { Args, deliveriesFlag, Flags, HostCommand, paint, plural } from '../../bin/cli/index.ts'
import { readEnvironment, variable } from '../../src/kit/index.ts'
import type { IssuerChange as Change } from '../../src/operate/index.ts'

export default class IssuerChange extends HostCommand {
  static override summary = 'Change the issuer of tokens (WAYPOST_BASE_URL)'
  static override description =
    'Running servers keep the old issuer until they are restarted with the new WAYPOST_BASE_URL. After that, older access tokens are rejected. Clients with a refresh token get a new one; everyone else must log in again. Servers and commands with the old WAYPOST_BASE_URL no longer start.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> https://api.example.com',
    '<%= config.bin %> <%= command.id %> https://api.example.com --yes --json',
    '<%= config.bin %> <%= command.id %> https://staging.example.com --deliveries cancel',
  ]
  static override enableJsonFlag = true
  static override args = { url: Args.string({ description: 'The new base URL', required: true }) }
  static override flags = {
    deliveries: deliveriesFlag(),
    yes: Flags.boolean({ char: 'y', description: 'Do not ask for confirmation' }),
  }

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(IssuerChange)
    const { changeHostIssuer } = await import('../../src/operate/index.ts')
    const { openHost } = await import('../../src/host/index.ts')
    return this.withHost(openHost, async (host) => {
      this.noteTarget(host)
      const confirm = (change: Change) => {
        this.#explain(change)
        return this.confirmChange('Change it?', { isConfirmed: flags.yes })
      }
      const change = await changeHostIssuer(host, { url: args.url, deliveries: flags.deliveries, confirm })
      if (change === undefined) return { changed: false }
      const changed = change.from !== change.to
      this.print(changed ? `  Issuer     ${change.to}` : `  Nothing to do: ${change.to} is the issuer.`)
      if (change.choice === 'cancel') this.print(`  Cancelled  ${plural(change.cancelled, 'delivery')}`)
      this.#advise(change)
      this.adviseHeld(change.choice)
      const { servers, tokens, waiting, choice } = change
      const deliveries = { waiting: waiting.deliveries, hosts: waiting.hosts, choice }
      return { changed, from: change.from ?? null, to: change.to, servers, tokens, deliveries }
    })
  }

  #explain({ from, to, servers, tokens, waiting, choice }: Change): void {
    this.note(`  From       ${from ?? 'none yet'}`)
    this.note(`  To         ${to}`)
    if (isPlainHttp(to)) this.note('  Warning    http: passwords, tokens and cookies are sent unencrypted')
    this.note(`  Servers    ${servers.join(', ') || 'none running'}`)
    this.note(`  Tokens     ${plural(tokens, 'valid access token')}; rejected once the servers are restarted`)
    this.noteWaiting(waiting, choice)
  }

  #advise({ to, servers }: Change): void {
    const given = variable(readEnvironment(process.cwd()), 'WAYPOST_BASE_URL')
    const here = given === undefined || given.replace(/\/+$/, '') === to ? [] : ['here']
    const places = [...here, ...(servers.length > 0 ? [`on ${servers.join(', ')}, then restart`] : [])]
    if (places.length === 0) return
    this.note(`  Next       ${paint('cyan', `WAYPOST_BASE_URL=${to}`, process.stderr)}   ${places.join('; ')}`)
  }
}

function isPlainHttp(url: string): boolean {
  const { protocol, hostname } = new URL(url)
  return protocol === 'http:' && !['localhost', '127.0.0.1', '[::1]'].includes(hostname)
}
