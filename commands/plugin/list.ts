import { WaypostCommand, formatTable, printDiagnostics } from '../../bin/cli/index.ts'
import type { ListedPlugin } from '../../src/project/index.ts'

export default class PluginList extends WaypostCommand {
  static override description = 'List the plugins of the project and what they provide'
  static override examples = ['<%= config.bin %> <%= command.id %>', '<%= config.bin %> <%= command.id %> --json']
  static override enableJsonFlag = true

  async run(): Promise<unknown> {
    await this.parse(PluginList)
    const { listPlugins } = await import('../../src/project/index.ts')
    const plugins = await listPlugins({
      folder: process.cwd(),
      builtInCommands: this.config.commandIDs,
      onDiagnostics: (diagnostics) => printDiagnostics(diagnostics, process.stderr),
    })
    if (!this.jsonEnabled()) this.#show(plugins)
    return { plugins }
  }

  #show(plugins: readonly ListedPlugin[]): void {
    const cells = (of: (plugin: ListedPlugin) => string) => plugins.map(of)
    const lines = formatTable(
      [
        { title: 'PLUGIN', cells: cells(({ name, from = name }) => from), narrow: 'wrap', order: 1, minWidth: 12 },
        { title: 'VERSION', cells: cells(({ version = '' }) => version) },
        { title: 'SOURCE', cells: cells(({ source }) => sources[source]) },
        { title: 'PROVIDES', cells: cells(describe), narrow: 'wrap', order: 0, minWidth: 18 },
      ],
      process.stdout.columns ?? Number.POSITIVE_INFINITY,
    )
    for (const line of lines) this.print(line)
    for (const warning of plugins.flatMap(({ warnings }) => warnings)) this.note(`\nWarning: ${warning}`)
  }
}

const sources = { waypost: 'waypost', release: 'in the release', host: 'on servers' } as const

function describe({ connections, actions, steps, routes, commands }: ListedPlugin): string {
  const parts = [
    connections.length === 0 ? [] : `connections ${connections.join(', ')}`,
    actions.length === 0 ? [] : `actions ${actions.join(', ')}`,
    steps.length === 0 ? [] : `steps ${steps.join(', ')}`,
    routes ? 'routes' : [],
    commands.length === 0 ? [] : `commands ${commands.join(', ')}`,
  ].flat()
  return parts.join('; ')
}
