import { Flags, HostCommand, formatSpan, limitFlag } from '../../bin/cli/index.ts'
import type { ListedToken } from '../../src/operate/index.ts'

export default class TokenList extends HostCommand {
  static override description = 'List the valid access tokens'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --user ann',
    '<%= config.bin %> <%= command.id %> --client shop --json',
  ]
  static override enableJsonFlag = true
  static override flags = {
    user: Flags.string({ description: 'Only tokens of this user' }),
    client: Flags.string({ description: 'Only tokens of this client, by id or name' }),
    limit: limitFlag,
  }

  async run(): Promise<unknown> {
    const { flags } = await this.parse(TokenList)
    const { listHostTokens } = await import('../../src/operate/index.ts')
    const { openHost } = await import('../../src/host/index.ts')
    return this.withHost(openHost, async (host) => {
      const { entry: tokens, next } = await listHostTokens(host, flags)
      this.#show(tokens, host.clock.now())
      if (next !== undefined) this.note(`\nShowing the newest ${flags.limit}; use --limit to show more.`)
      return { tokens: tokens.map(toJson) }
    })
  }

  #show(tokens: readonly ListedToken[], now: number): void {
    if (tokens.length === 0) {
      this.note('No valid tokens.')
      return
    }
    const cells = (of: (token: ListedToken) => string) => tokens.map(of)
    this.printTable([
      { title: 'JTI', cells: cells(({ jti }) => jti) },
      { title: 'USER', cells: cells(({ user }) => user), narrow: 'wrap', order: 2, minWidth: 6 },
      { title: 'CLIENT', cells: cells(({ client }) => client.name), narrow: 'wrap', order: 1, minWidth: 6 },
      { title: 'SCOPE', cells: cells(({ scopes }) => scopes.join(' ') || '-'), narrow: 'wrap', minWidth: 6 },
      { title: 'LEFT', cells: cells(({ expiresAt }) => formatSpan(expiresAt - now)) },
      { title: 'USED', cells: cells(({ usedAt }) => (usedAt === null ? '-' : `${formatSpan(now - usedAt)} ago`)) },
    ])
  }
}

function toJson({ jti, user, client, scopes, createdAt, expiresAt, usedAt }: ListedToken) {
  const [created, expires] = [createdAt, expiresAt].map((ms) => new Date(ms).toISOString())
  const used = usedAt === null ? null : new Date(usedAt).toISOString()
  return { jti, user, client_id: client.id, client: client.name, scope: scopes.join(' '), created, expires, used }
}
