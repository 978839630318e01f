import { HostCommand } from '../../bin/cli/index.ts'
import type { ListedScope } from '../../src/operate/index.ts'

export default class ScopeList extends HostCommand {
  static override description = 'List scopes, the routes that need them, and their users'
  static override examples = ['<%= config.bin %> <%= command.id %>', '<%= config.bin %> <%= command.id %> --json']
  static override enableJsonFlag = true

  async run(): Promise<unknown> {
    await this.parse(ScopeList)
    const { listHostScopes } = await import('../../src/operate/index.ts')
    const { openHost } = await import('../../src/host/index.ts')
    return this.withHost(openHost, async (host) => {
      const scopes = await listHostScopes(host, (error) => this.note(`Some routes are not listed. ${error.message}`))
      this.#show(scopes)
      return { scopes: scopes.map(({ description = null, ...scope }) => ({ ...scope, description })) }
    })
  }

  #show(scopes: readonly ListedScope[]): void {
    const cells = (of: (scope: ListedScope) => string | number) => scopes.map((scope) => String(of(scope)))
    const usesPlugins = scopes.some(({ plugins }) => plugins.length > 0)
    this.printTable([
      { title: 'SCOPE', cells: cells(({ name }) => name), narrow: 'wrap', order: 1, minWidth: 16 },
      { title: 'ROUTES', cells: cells(({ routes }) => routes) },
      { title: 'EVENTS', cells: cells(({ events }) => events) },
      { title: 'USERS', cells: cells(({ users }) => users) },
      { title: 'CLIENTS', cells: cells(({ clients }) => clients) },
      ...(usesPlugins ? [{ title: 'PLUGINS', cells: cells(({ plugins }) => plugins.join(', ')) }] : []),
      { title: 'DESCRIPTION', cells: cells(({ description = '' }) => description), narrow: 'wrap', order: 0 },
    ])
    const missing = scopes.filter(({ routes, events, users }) => routes + events > 0 && users === 0)
    if (missing.length === 0) return
    const names = missing.map(({ name }) => name)
    this.note(`\nNo user has ${names.join(', ')}. To grant it: waypost user:scopes NAME --add ${names.join(',')}`)
  }
}
