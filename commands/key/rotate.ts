import { confirm, Flags, paint, WaypostCommand } from '../../bin/cli/index.ts'
import { readEnvironment } from '../../src/kit/index.ts'

export default class KeyRotate extends WaypostCommand {
  static override description = 'Sign access tokens with a new key; those that were issued before stay valid.'
  static override examples = ['<%= config.bin %> <%= command.id %>', '<%= config.bin %> <%= command.id %> --yes --json']
  static override enableJsonFlag = true
  static override flags = { yes: Flags.boolean({ char: 'y', description: 'Ask nothing' }) }

  async run(): Promise<unknown> {
    const { flags } = await this.parse(KeyRotate)
    const { openHost } = await import('../../src/host/index.ts')
    const { rotateHostKey } = await import('../../src/operate/index.ts')
    const folder = process.cwd()
    const host = await openHost({ folder, variables: readEnvironment(folder) })
    try {
      this.note(`  Target     ${host.system.target}`)
      if (!flags.yes && this.isInteractive() && !(await confirm('  Sign with a new key from now on?'))) {
        this.note('  Nothing was changed.')
        process.exitCode = 1
        return { retired: [], removed: [] }
      }
      const { key, retired, removed } = await rotateHostKey(host)
      this.print(`  Signs      ${paint('cyan', key)}`)
      for (const id of retired) this.print(`  Retired    ${id}   verifies until its last token has expired`)
      for (const id of removed) this.print(`  Removed    ${id}   its last token has expired`)
      return { key, retired, removed }
    } finally {
      await host.close()
    }
  }
}
