import { Args, WaypostCommand, printDiagnostics, scriptConsole } from '../bin/cli/index.ts'
import { listEnvFiles, readEnvironment } from '../src/kit/index.ts'

export default class Run extends WaypostCommand {
  static override description =
    "Run a script of the project\nThe script's default export is a function (context, args) => …, or a class with handle as for a cronjob. All words after FILE are its arguments."
  static override examples = [
    '<%= config.bin %> <%= command.id %> scripts/import.ts orders.csv',
    '<%= config.bin %> <%= command.id %> scripts/import.ts -- --help',
  ]
  static override strict = false
  static override args = { file: Args.string({ description: 'A .ts or .js file of the project', required: true }) }

  async run(): Promise<void> {
    const { own, rest } = divide(this.argv)
    const { args } = await this.parse(Run, own)
    const folder = process.cwd()
    const signal = this.abandonSignal()
    const { runScript } = await import('../src/project/index.ts')
    await runScript({
      folder,
      variables: readEnvironment(folder, listEnvFiles(folder)),
      file: args.file,
      args: rest,
      signal,
      console: scriptConsole,
      onDiagnostics: (diagnostics) => printDiagnostics(diagnostics, process.stderr),
    })
  }
}

/** Divides the words after the file from those before it, which are flags of this command. */
function divide(words: readonly string[]): { readonly own: string[]; readonly rest: readonly string[] } {
  const file = words.findIndex((word) => !word.startsWith('-'))
  const end = file === -1 ? words.length : file + 1
  const after = words.slice(end)
  return { own: words.slice(0, end), rest: after[0] === '--' ? after.slice(1) : after }
}
