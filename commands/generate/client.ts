import { Flags, WaypostCommand, printDiagnostics, writeOutput } from '../../bin/cli/index.ts'
import { readEnvironment } from '../../src/kit/index.ts'

export default class GenerateClient extends WaypostCommand {
  static override description = `Print a typed TypeScript client of this project's API: one file, a function for each operation.

Who uses it installs the package @oazapfts/runtime, and then writes:

  import { defaults, postTodo } from './api.ts'

  defaults.baseUrl = 'https://api.example.com'
  defaults.headers = { authorization: \`Bearer \${token}\` }

  const created = await postTodo({ title: 'Buy milk', content: 'Two bottles' })
  if (created.status === 201) console.log(created.data.id)

A status tells the type of its data; errors are problems (RFC 9457). WAYPOST_BASE_URL, where it is set, is the default of
defaults.baseUrl.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> --output ../web/src/api.ts',
    '<%= config.bin %> <%= command.id %> > api.ts',
  ]
  static override flags = {
    output: Flags.string({ char: 'o', description: 'File to write instead of printing', helpValue: 'FILE' }),
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(GenerateClient)
    const folder = process.cwd()
    const { generateClient } = await import('../../src/project/index.ts')
    const source = await generateClient({
      folder,
      variables: readEnvironment(folder),
      onDiagnostics: (diagnostics) => printDiagnostics(diagnostics, process.stderr),
    })
    const written = await writeOutput(source, flags.output)
    if (written) this.note(`  Wrote  ${flags.output}\n  Next   npm install @oazapfts/runtime, where it is used`)
  }
}
