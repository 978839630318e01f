import { Flags, WaypostCommand, printDiagnostics, writeOutput } from '../../bin/cli/index.ts'
import { readEnvironment } from '../../src/kit/index.ts'

export default class GenerateClient extends WaypostCommand {
  static override description = `Generate a typed TypeScript client for the API

The client is one file with a function for each operation. It needs the package @oazapfts/runtime:

  import { defaults, createTodo } from './api.ts'

  defaults.baseUrl = 'https://api.example.com'
  defaults.headers = { authorization: \`Bearer \${token}\` }

  const created = await createTodo({ title: 'Buy milk', content: 'Two bottles' })
  if (created.status === 201) console.log(created.data.id)

Bytes are a Blob, text is a string, and a stream is an async iterable:

  for await (const { data } of watchOrders()) console.log(data.id)

The status determines the type of the data; errors are problem details (RFC 9457). If WAYPOST_BASE_URL is set, it is the \
default of defaults.baseUrl.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> --output ../web/src/api.ts',
    '<%= config.bin %> <%= command.id %> > api.ts',
  ]
  static override flags = {
    output: Flags.string({ char: 'o', description: 'File to write to instead of printing', helpValue: 'FILE' }),
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
    if (written)
      this.note(`  Wrote  ${flags.output}\n  Next   npm install @oazapfts/runtime, in the project that uses it`)
  }
}
