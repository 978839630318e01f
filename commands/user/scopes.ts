import { Args, listFlag, WaypostCommand } from '../../bin/cli/index.ts'
import { readEnvironment } from '../../src/kit/index.ts'

export default class UserScopes extends WaypostCommand {
  static override description = 'Show the scopes of a user, give some, take some away.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> ann',
    '<%= config.bin %> <%= command.id %> ann --add order,todo --remove backend.read',
  ]
  static override enableJsonFlag = true
  static override args = { name: Args.string({ description: 'Name of the user', required: true }) }
  static override flags = {
    add: listFlag({ description: 'Scopes to give, separated by commas' }),
    remove: listFlag({ description: 'Scopes to take away; its tokens lose them within a second' }),
  }

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(UserScopes)
    const { changeHostUserScopes, openHost } = await import('../../src/server/index.ts')
    const folder = process.cwd()
    const host = await openHost({ folder, variables: readEnvironment(folder) })
    try {
      this.note(`  Target     ${host.system.target}`)
      const user = await changeHostUserScopes(host, {
        name: args.name,
        add: flags.add ?? [],
        remove: flags.remove ?? [],
      })
      this.print(`  Scopes     ${user.scopes.join(', ') || 'none'}`)
      return user
    } finally {
      await host.close()
    }
  }
}
