import { Flags, WaypostCommand, printDiagnostics, writeOutput } from '../bin/cli/index.ts'
import { readEnvironment } from '../src/kit/index.ts'

export default class OpenApi extends WaypostCommand {
  static override description =
    'Print the API of this project as OpenAPI 3.1, the same that a server gives at /openapi.json.\n\n' +
    'No server and no code of the project runs. WAYPOST_BASE_URL says where callers reach the API.'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --output openapi.json',
    'WAYPOST_BASE_URL=https://api.example.com <%= config.bin %> <%= command.id %> > openapi.json',
  ]
  static override flags = {
    output: Flags.string({ char: 'o', description: 'File to write instead of printing', helpValue: 'FILE' }),
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
