import type { Diagnostic } from '../../src/kit/index.ts'
import type { GeneratedAction } from '../../src/project/index.ts'
import { Args, Flags, WaypostCommand, printDiagnostics, wrap } from '../../bin/cli/index.ts'

export default class GenerateAction extends WaypostCommand {
  static override description = 'Generate the class of an action or a step'
  static override examples = [
    '<%= config.bin %> <%= command.id %> src/todo/insert.ts',
    '<%= config.bin %> <%= command.id %> src/tidy.ts',
    "<%= config.bin %> <%= command.id %> src/todo/insert-many.ts --route 'POST /todo'",
    '<%= config.bin %> <%= command.id %> --all',
  ]
  static override enableJsonFlag = true
  static override args = {
    file: Args.string({ description: 'File to write, for example src/todo/insert.ts' }),
  }
  static override flags = {
    route: Flags.string({
      description: "Route of the action: 'METHOD /path'; default: the route that uses the file",
    }),
    all: Flags.boolean({
      description: 'Generate every missing action file that the project refers to',
      default: false,
      exclusive: ['route'],
    }),
    'dry-run': Flags.boolean({ description: 'Show what would be written without writing anything' }),
  }

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(GenerateAction)
    if ((args.file === undefined) !== flags.all) throw this.usageError('Specify a file or --all')
    const { generateAction, listMissingActions } = await import('../../src/project/index.ts')
    const common = {
      folder: process.cwd(),
      onDiagnostics: (diagnostics: readonly Diagnostic[]) => printDiagnostics(diagnostics, process.stderr),
    }
    const isDryRun = flags['dry-run']
    const generate = (file: string, route: string | undefined) =>
      generateAction({ ...common, file, route, dryRun: isDryRun })
    if (!flags.all) {
      const generated = await generate(args.file!, flags.route)
      this.#show(generated, isDryRun)
      return { ...generated, written: !isDryRun }
    }
    const all: GeneratedAction[] = []
    for (const { file, route } of await listMissingActions(common)) {
      const generated = await generate(file, route)
      this.#show(generated, isDryRun)
      all.push(generated)
    }
    if (all.length === 0) this.print('  Nothing to do: all action files exist.')
    return { actions: all, written: !isDryRun && all.length > 0 }
  }

  #show({ use, route = '', action, answeredAt, servedAt }: GeneratedAction, isDryRun: boolean): void {
    this.print(`${isDryRun ? '  Would write' : '  Wrote'}  ${action} for ${use}`)
    if (servedAt !== undefined) this.print(`  dev already serves it: ${route.split(' ')[0]} ${servedAt}`)
    if (answeredAt !== undefined) {
      const next = `${route} has another action. To use this one, write action: ${action} at ${answeredAt}.`
      this.print(`  ${wrap(next, 2)}`)
    } else if (!isDryRun) {
      this.print(
        route === '' ? `  ${use} fails until you implement it.` : `  ${route} returns 501 until you implement it.`,
      )
    }
  }
}
