import { confirm, Flags, HostCommand, paint, plural, showRevoked } from '../../bin/cli/index.ts'

export default class KeyRotate extends HostCommand {
  static override description = 'Sign access tokens with a new key'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --withdraw',
    '<%= config.bin %> <%= command.id %> --yes --json',
  ]
  static override enableJsonFlag = true
  static override flags = {
    withdraw: Flags.boolean({
      description: 'Delete the old keys immediately, for example after a leak; all existing access tokens are rejected',
    }),
    yes: Flags.boolean({ char: 'y', description: 'Do not ask for confirmation' }),
  }

  async run(): Promise<unknown> {
    const { flags } = await this.parse(KeyRotate)
    const { withdraw } = flags
    const { openHost } = await import('../../src/host/index.ts')
    const { rotateHostKey } = await import('../../src/operate/index.ts')
    return this.withHost(openHost, async (host) => {
      this.noteTarget(host)
      const question = withdraw
        ? '  Sign with a new key and reject all existing access tokens?'
        : '  Sign with a new key from now on?'
      if (!flags.yes && this.isInteractive() && !(await confirm(question))) {
        this.note('  Nothing was changed.')
        process.exitCode = 1
        return { retired: [], removed: [], withdrawn: [], revoked: 0 }
      }
      const { key, algorithm, retired, removed, withdrawn, tokens } = await showRevoked((batches) =>
        rotateHostKey(host, { withdraw, ...batches }),
      )
      this.print(`  Signs      ${paint('cyan', key)}   ${algorithm}`)
      for (const id of retired) this.print(`  Retired    ${id}   still verifies until its last token expires`)
      for (const id of removed) this.print(`  Removed    ${id}   its last token has expired`)
      for (const id of withdrawn) this.print(`  Withdrawn  ${id}   no longer verifies tokens`)
      if (withdraw) this.print(`  Revoked    ${plural(tokens, 'access token')}; refresh tokens stay valid`)
      return { key, algorithm, retired, removed, withdrawn, revoked: tokens }
    })
  }
}
