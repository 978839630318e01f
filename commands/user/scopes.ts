import { Args, HostCommand, listFlag } from '../../bin/cli/index.ts'

export default class UserScopes extends HostCommand {
  static override description = 'Show or change the scopes of a user'
  static override examples = [
    '<%= config.bin %> <%= command.id %> ann',
    '<%= config.bin %> <%= command.id %> ann --add order,todo --remove backend.read',
  ]
  static override enableJsonFlag = true
  static override args = { name: Args.string({ description: 'Name of the user', required: true }) }
  static override flags = {
    add: listFlag({ description: 'Scopes to add, separated by commas' }),
    remove: listFlag({ description: 'Scopes to remove, separated by commas; tokens lose them within one second' }),
  }

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(UserScopes)
    const { changeHostUserScopes, findUnusedScopes } = await import('../../src/operate/index.ts')
    const { openHost } = await import('../../src/host/index.ts')
    return this.withHost(openHost, async (host) => {
      this.noteTarget(host)
      const { isLastAdministrator, ...user } = await changeHostUserScopes(host, {
        name: args.name,
        add: flags.add ?? [],
        remove: flags.remove ?? [],
      })
      this.print(`  Scopes     ${user.scopes.join(', ') || 'none'}`)
      if (isLastAdministrator) this.noteNoAdministrator()
      this.noteUnusedScopes(await findUnusedScopes(host, flags.add ?? []))
      return user
    })
  }
}
