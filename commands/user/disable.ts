import { Args, Flags, HostCommand, describeEnded, showRevoked } from '../../bin/cli/index.ts'

export default class UserDisable extends HostCommand {
  static override description =
    "Disable a user\nLogins are rejected, and all servers reject the user's tokens within one second."
  static override examples = [
    '<%= config.bin %> <%= command.id %> ann',
    '<%= config.bin %> <%= command.id %> ann --enable',
  ]
  static override enableJsonFlag = true
  static override args = { name: Args.string({ description: 'Name of the user', required: true }) }
  static override flags = {
    enable: Flags.boolean({ description: 'Enable the user again, without restoring revoked tokens' }),
  }

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(UserDisable)
    const { changeHostUserStatus } = await import('../../src/operate/index.ts')
    const { openHost } = await import('../../src/host/index.ts')
    return this.withHost(openHost, async (host) => {
      this.noteTarget(host)
      const status = flags.enable ? 'active' : 'disabled'
      const changed = await showRevoked((batches) => changeHostUserStatus(host, { name: args.name, status }, batches))
      const { name, tokens, sessions, isLastAdministrator } = changed
      this.print(`  ${flags.enable ? 'Enabled    ' : 'Disabled   '}${name}`)
      if (!flags.enable) this.print(`  Ended      ${describeEnded({ tokens, sessions })}`)
      if (isLastAdministrator) this.noteNoAdministrator()
      return { name, status, revoked: tokens, sessions }
    })
  }
}
