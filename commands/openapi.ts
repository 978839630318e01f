import { Flags, WaypostCommand, printDiagnostics, writeOutput } from '../bin/cli/index.ts'
import { readEnvironment } from '../src/kit/index.ts'

export default class OpenApi extends WaypostCommand {
  static override description =
    'Print the OpenAPI document of the project\n\nThis is the document that servers provide at /openapi.json. ' +
    'The command needs no server and runs no actions. WAYPOST_BASE_URL sets the server URL.'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --output openapi.json',
    'WAYPOST_BASE_URL=https://api.example.com <%= config.bin %> <%= command.id %> > openapi.json',
  ]
  static override flags = {
    output: Flags.string({ char: 'o', description: 'File to write to instead of printing', helpValue: 'FILE' }),
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(OpenApi)
    const folder = process.cwd()
    const { describeApi } = await import('../src/project/index.ts')
    const document = await describeApi({
      folder,
      variables: readEnvironment(folder),
      onDiagnostics: (diagnostics) => printDiagnostics(diagnostics, process.stderr),
    })
    const written = await writeOutput(`${JSON.stringify(document, undefined, 2)}\n`, flags.output)
    if (written) this.note(`  Wrote  ${flags.output}`)
  }
}
