import { Args, Flags, HostCommand } from '../../bin/cli/index.ts'

export default class EnvUnset extends HostCommand {
  static override description = `Remove a variable from System

Running servers apply it immediately. If the active release requires the variable and a server does not set it itself, \
the command asks first; that server keeps the last value until it restarts.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> ORDERS_URL',
    '<%= config.bin %> <%= command.id %> ORDERS_URL --yes',
  ]
  static override enableJsonFlag = true
  static override args = { name: Args.string({ description: 'Name of the variable', required: true }) }
  static override flags = {
    yes: Flags.boolean({ char: 'y', description: 'Remove it even if the active release requires it' }),
  }

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(EnvUnset)
    const { findHostVariable, unsetHostVariable } = await import('../../src/operate/index.ts')
    const { openHost } = await import('../../src/host/index.ts')
    return this.withHost(openHost, async (host) => {
      this.noteTarget(host)
      const known = await findHostVariable(host, args.name)
      this.note(`  Used by    ${known.uses.join(', ') || 'nothing in the active release'}`)
      const question = `The active release requires ${known.name}, which is not set on every server. Remove it?`
      const mustAsk = known.isNeeded && !flags.yes && this.isInteractive()
      if (mustAsk && !(await this.confirmChange(question, { isConfirmed: false }))) return undefined
      const { name, set, uses } = await unsetHostVariable(host, { name: known.name, isForced: flags.yes || mustAsk })
      this.print(`  Unset      ${name}`)
      if (set.length > 0) this.note(`  Still set  on this host: ${set.join(', ')}`)
      return { name, uses, set }
    })
  }
}
