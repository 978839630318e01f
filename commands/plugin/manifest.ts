import { WaypostCommand, writePluginManifest } from '../../bin/cli/index.ts'

export default class PluginManifest extends WaypostCommand {
  static override description = 'Describe the commands of the plugin package in this folder in oclif.manifest.json'
  static override examples = ['<%= config.bin %> <%= command.id %>']

  async run(): Promise<void> {
    await this.parse(PluginManifest)
    const commands = await writePluginManifest(process.cwd(), this.config.commandIDs)
    this.print(`  Wrote      oclif.manifest.json: ${commands.join(', ')}`)
  }
}
