import { Args, Flags, WaypostCommand, printDiagnostics, wrap } from '../../bin/cli/index.ts'

export default class GenerateAction extends WaypostCommand {
  static override description = 'Generate the class of an action'
  static override examples = [
    '<%= config.bin %> <%= command.id %> src/todo/insert.ts',
    '<%= config.bin %> <%= command.id %> src/tidy.ts',
    "<%= config.bin %> <%= command.id %> src/todo/insert-many.ts --route 'POST /todo'",
  ]
  static override enableJsonFlag = true
  static override args = {
    file: Args.string({ description: 'File to write, for example src/todo/insert.ts', required: true }),
  }
  static override flags = {
    route: Flags.string({
      description: "Route of the action: 'METHOD /path'; default: the route that uses the file",
    }),
    'dry-run': Flags.boolean({ description: 'Show what would be written without writing anything' }),
  }

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(GenerateAction)
    const { generateAction } = await import('../../src/project/index.ts')
    const isDryRun = flags['dry-run']
    const generated = await generateAction({
      folder: process.cwd(),
      file: args.file,
      route: flags.route,
      dryRun: isDryRun,
      onDiagnostics: (diagnostics) => printDiagnostics(diagnostics, process.stderr),
    })
    const { use, route = '', action, answeredAt, servedAt } = generated
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
    return { ...generated, written: !isDryRun }
  }
}
