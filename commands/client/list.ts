import { Flags, HostCommand, limitFlag } from '../../bin/cli/index.ts'
import type { ListedClient } from '../../src/operate/index.ts'

export default class ClientList extends HostCommand {
  static override description = 'List the OAuth2 clients'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --user ann',
    '<%= config.bin %> <%= command.id %> --json',
  ]
  static override enableJsonFlag = true
  static override flags = {
    user: Flags.string({ description: 'Only clients of this user' }),
    search: Flags.string({ description: 'Only clients whose name contains this text' }),
    limit: limitFlag,
  }

  async run(): Promise<unknown> {
    const { flags } = await this.parse(ClientList)
    const { listHostClients } = await import('../../src/operate/index.ts')
    const { openHost } = await import('../../src/host/index.ts')
    return this.withHost(openHost, async (host) => {
      const { entry: clients, next } = await listHostClients(host, flags)
      this.#show(clients)
      if (next !== undefined) this.note(`\nShowing the first ${flags.limit}; use --limit to show more.`)
      return { clients: clients.map(toJson) }
    })
  }

  #show(clients: readonly ListedClient[]): void {
    if (clients.length === 0) {
      this.note('No clients. Add one: waypost client:add NAME --user NAME')
      return
    }
    const cells = (of: (client: ListedClient) => string) => clients.map(of)
    this.printTable([
      { title: 'CLIENT', cells: cells(({ id }) => id) },
      { title: 'NAME', cells: cells(nameWithState), narrow: 'wrap', order: 3, minWidth: 8 },
      { title: 'USER', cells: cells(({ user }) => user ?? '-'), narrow: 'wrap', order: 2, minWidth: 6 },
      { title: 'SCOPES', cells: cells(({ scopes }) => scopes.join(', ') || '-'), narrow: 'wrap', order: 1 },
      { title: 'GRANTS', cells: cells(({ grants }) => grants.join(', ') || '-'), narrow: 'wrap', order: 0 },
    ])
  }
}

function nameWithState({ name, status, isPublic }: ListedClient): string {
  const state = [...(status === 'disabled' ? ['disabled'] : []), ...(isPublic ? ['public'] : [])].join(', ')
  return state === '' ? name : `${name} (${state})`
}

function toJson({ id, name, user, isPublic, status, grants, scopes, redirectUris, createdAt }: ListedClient) {
  const created = new Date(createdAt).toISOString()
  return { client_id: id, name, user, public: isPublic, status, grants, scopes, redirect_uris: redirectUris, created }
}
