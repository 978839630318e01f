import { WaypostCommand, writePluginManifest } from '../../bin/cli/index.ts'

export default class PluginManifest extends WaypostCommand {
  static override description = 'Write oclif.manifest.json for the plugin in this folder'
  static override examples = ['<%= config.bin %> <%= command.id %>']

  async run(): Promise<void> {
    await this.parse(PluginManifest)
    const commands = await writePluginManifest(process.cwd(), this.config.commandIDs)
    this.print(`  Wrote      oclif.manifest.json: ${commands.join(', ')}`)
  }
}
