import { Flags } from '@oclif/core'
import { WaypostCommand, formatTable, plural, printDiagnostics } from '../bin/cli/index.ts'
import type { ProjectTable } from '../src/project/index.ts'

export default class Tables extends WaypostCommand {
  static override description = 'List the tables of the project'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --mermaid # a diagram for Markdown',
    '<%= config.bin %> <%= command.id %> --json',
  ]
  static override flags = {
    mermaid: Flags.boolean({
      description: 'Print the tables of a connection and their references as a Mermaid diagram',
    }),
    connection: Flags.string({
      description: 'The connection of the diagram; default: System',
      dependsOn: ['mermaid'],
    }),
  }
  static override enableJsonFlag = true

  async run(): Promise<unknown> {
    const { flags } = await this.parse(Tables)
    const { drawTables, listProjectTables } = await import('../src/project/index.ts')
    const options = {
      folder: process.cwd(),
      onDiagnostics: (diagnostics: Parameters<typeof printDiagnostics>[0]) =>
        printDiagnostics(diagnostics, process.stderr),
    }
    if (flags.mermaid) {
      const mermaid = await drawTables({ ...options, connection: flags.connection ?? 'System' })
      if (!this.jsonEnabled()) this.print(mermaid.trimEnd())
      return { mermaid }
    }
    const tables = await listProjectTables(options)
    if (!this.jsonEnabled()) this.#show(tables)
    return { tables }
  }

  #show(tables: readonly ProjectTable[]): void {
    if (tables.length === 0) {
      this.note('No tables yet. Write a migration: waypost migrate:create create-todo --yaml')
      return
    }
    const cells = (of: (table: ProjectTable) => string) => tables.map(of)
    const lines = formatTable(
      [
        { title: 'CONNECTION', cells: cells(({ connection }) => connection) },
        { title: 'TABLE', cells: cells(({ name }) => name), narrow: 'wrap', order: 2, minWidth: 12 },
        { title: 'KEY', cells: cells(({ table }) => (table.view ? 'view' : (table.key ?? []).join(', '))) },
        {
          title: 'COLUMNS',
          cells: cells(({ table }) => Object.keys(table.columns).join(', ')),
          narrow: 'wrap',
          order: 0,
          minWidth: 20,
        },
        {
          title: 'REFERS TO',
          cells: cells(({ table }) => (table.references ?? []).map((one) => one.table).join(', ')),
          narrow: 'wrap',
          order: 1,
          minWidth: 12,
        },
      ],
      process.stdout.columns ?? Number.POSITIVE_INFINITY,
    )
    for (const line of lines) this.print(line)
    this.note(`\n${plural(tables.length, 'table')}`)
  }
}
