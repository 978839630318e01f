import { Flags, HostCommand, formatDay, limitFlag } from '../../bin/cli/index.ts'
import type { ListedUser } from '../../src/operate/index.ts'

export default class UserList extends HostCommand {
  static override description = 'List users and their scopes'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --scope backend.admin',
    '<%= config.bin %> <%= command.id %> --search ann',
    '<%= config.bin %> <%= command.id %> --json',
  ]
  static override enableJsonFlag = true
  static override flags = {
    scope: Flags.string({ description: 'Only users with this scope' }),
    search: Flags.string({ description: 'Only users whose name or email address contains this text' }),
    limit: limitFlag,
  }

  async run(): Promise<unknown> {
    const { flags } = await this.parse(UserList)
    const { listHostUsers } = await import('../../src/operate/index.ts')
    const { openHost } = await import('../../src/host/index.ts')
    return this.withHost(openHost, async (host) => {
      const { entry: users, next } = await listHostUsers(host, flags)
      this.#show(users, flags)
      if (next !== undefined) this.note(`\nShowing the first ${flags.limit}; use --limit to show more.`)
      return {
        users: users.map(({ createdAt, ...user }) => ({ ...user, created: new Date(createdAt).toISOString() })),
      }
    })
  }

  #show(
    users: readonly ListedUser[],
    { scope, search }: { scope?: string | undefined; search?: string | undefined },
  ): void {
    if (users.length === 0 && search !== undefined) this.note(`No user has "${search}" in the name or email address`)
    else if (users.length === 0) {
      const what = scope === undefined ? 'No users yet' : `No user has the scope ${scope}`
      const next = scope === undefined ? 'waypost user:add NAME' : `waypost user:scopes NAME --add ${scope}`
      this.note(`${what}: ${next}`)
    }
    if (users.length === 0) return
    const cells = (of: (user: ListedUser) => string) => users.map(of)
    this.printTable([
      { title: 'NAME', cells: cells(({ name }) => name), narrow: 'wrap', order: 2, minWidth: 12 },
      { title: 'STATUS', cells: cells(({ status }) => status) },
      { title: 'SCOPES', cells: cells(({ scopes }) => scopes.join(', ') || '-'), narrow: 'wrap', minWidth: 20 },
      { title: 'EMAIL', cells: cells(({ email }) => email ?? '-'), narrow: 'wrap', order: 1, minWidth: 12 },
      { title: 'CREATED', cells: cells(({ createdAt }) => formatDay(createdAt)) },
    ])
  }
}
