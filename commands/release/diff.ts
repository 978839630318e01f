import { Args, HostCommand, describeCounts, formatPlan } from '../../bin/cli/index.ts'

export default class ReleaseDiff extends HostCommand {
  static override description = 'Show the differences between two releases'
  static override examples = [
    '<%= config.bin %> <%= command.id %> 4f1c9a2e',
    '<%= config.bin %> <%= command.id %> 4f1c9a2e 9b07d3c5',
  ]
  static override enableJsonFlag = true
  static override args = {
    from: Args.string({ description: 'Id of a release; its first characters are enough', required: true }),
    to: Args.string({ description: 'Id of the other release; default: the active release' }),
  }

  async run(): Promise<unknown> {
    const { args } = await this.parse(ReleaseDiff)
    const { compareHostReleases } = await import('../../src/operate/index.ts')
    const { openHost } = await import('../../src/host/index.ts')
    return this.withHost(openHost, async (host) => {
      this.noteTarget(host)
      const { from, to, changes } = await compareHostReleases(host, args.from, args.to)
      this.note(`  From       ${from.slice(0, 8)}`)
      this.note(`  To         ${to.slice(0, 8)}\n`)
      for (const line of formatPlan({ changes })) this.print(line)
      this.note(`${changes.length === 0 ? '' : '\n'}  ${describeCounts(changes)}`)
      return { from, to, changes }
    })
  }
}
