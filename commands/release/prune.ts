import { Flags, HostCommand, plural } from '../../bin/cli/index.ts'

const maxReleases = 20

export default class ReleasePrune extends HostCommand {
  static override summary = 'Delete old releases'
  static override description = [
    'Servers do this automatically once an hour: they delete releases older than the setting keep.releases, except for the 10 newest.',
    '\nThe active release, the one before it, and releases that a server serves, starts or would fall back to are never deleted.',
  ].join('\n')
  static override examples = [
    '<%= config.bin %> <%= command.id %> --dry-run',
    '<%= config.bin %> <%= command.id %> --keep 5 --yes',
  ]
  static override enableJsonFlag = true
  static override flags = {
    keep: Flags.integer({ description: 'Number of newest releases to keep, regardless of age', min: 0, max: 10_000 }),
    'dry-run': Flags.boolean({ description: 'Show what would be deleted without changing anything' }),
    yes: Flags.boolean({ char: 'y', description: 'Do not ask for confirmation' }),
  }

  async run(): Promise<unknown> {
    const { flags } = await this.parse(ReleasePrune)
    const { openHost } = await import('../../src/host/index.ts')
    const { pruneHostReleases } = await import('../../src/operate/index.ts')
    return this.withHost(openHost, async (host) => {
      this.noteTarget(host)
      const { keep, 'dry-run': isDry } = flags
      const planned = await pruneHostReleases(host, { keep, dryRun: true })
      const { releases } = planned
      for (const id of releases.slice(0, maxReleases)) this.note(`  - release  ${id.slice(0, 8)}`)
      if (releases.length > maxReleases) this.note(`  and ${releases.length - maxReleases} more`)
      const deleted = `${plural(releases.length, 'release')}, ${plural(planned.artifacts, 'artifact')}`
      if (isDry || releases.length === 0) {
        const kept = plural(planned.kept, 'release')
        this.print(
          releases.length === 0 ? `  Nothing to prune: ${kept} kept.` : `  To prune   ${deleted}; ${kept} kept`,
        )
        return { ...planned, pruned: false }
      }
      if (!(await this.confirmChange('Delete them?', { isConfirmed: flags.yes }))) return { ...planned, pruned: false }
      const pruned = await pruneHostReleases(host, { keep })
      this.print(`  Pruned     ${plural(pruned.releases.length, 'release')}, ${plural(pruned.artifacts, 'artifact')}`)
      return { ...pruned, pruned: true }
    })
  }
}
