import { Args, HostCommand, readSecret } from '../../bin/cli/index.ts'

export default class EnvSet extends HostCommand {
  static override description = `Set a variable in System for all servers

The value is read from standard input or, on a terminal, from a prompt. It is stored encrypted, and running servers apply \
it immediately. The environment of a server and its .env take precedence.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> ORDERS_URL',
    '$ echo "$ORDERS_URL" | <%= config.bin %> <%= command.id %> ORDERS_URL',
    '<%= config.bin %> <%= command.id %> SIGNING_KEY < key.pem',
  ]
  static override enableJsonFlag = true
  static override args = { name: Args.string({ description: 'Name of the variable', required: true }) }

  async run(): Promise<unknown> {
    const { args } = await this.parse(EnvSet)
    const { assertVariableName, setHostVariable } = await import('../../src/operate/index.ts')
    assertVariableName(args.name)
    const value = await readSecret(`  Value of ${args.name} (hidden): `)
    const { openHost } = await import('../../src/host/index.ts')
    return this.withHost(openHost, async (host) => {
      this.noteTarget(host)
      const { name, uses, set, setOn } = await setHostVariable(host, { name: args.name, value })
      this.print(`  Set        ${name}`)
      this.print(`  Used by    ${uses.join(', ') || 'nothing in the active release'}`)
      if (setOn.length > 0) this.note(`  Ignored    on ${setOn.join(', ')}: set in the environment or .env there`)
      else if (set[0] !== 'System') this.note(`  Ignored    on this host: set in ${set.slice(0, -1).join(', ')}`)
      return { name, uses, set, set_on: setOn }
    })
  }
}
