import { Args, Flags, WaypostCommand, printDiagnostics, wrap } from '../../bin/cli/index.ts'

export default class GenerateAction extends WaypostCommand {
  static override description = 'Write the class of an action that a route or a cronjob names, or of the given route.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> src/todo/insert.ts',
    '<%= config.bin %> <%= command.id %> src/tidy.ts',
    "<%= config.bin %> <%= command.id %> src/todo/insert-many.ts --route 'POST /todo'",
  ]
  static override enableJsonFlag = true
  static override args = {
    file: Args.string({ description: 'File of the class, for example src/todo/insert.ts', required: true }),
  }
  static override flags = {
    route: Flags.string({
      description: "Route of the action: 'METHOD /path'; the one that names the file by default",
    }),
    'dry-run': Flags.boolean({ description: 'Say what would be written, and write nothing' }),
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
    if (servedAt !== undefined) this.print(`  dev serves it already: ${route.split(' ')[0]} ${servedAt}`)
    if (answeredAt !== undefined) {
      const next = `${route} has another action: to use this one, write action: ${action} at ${answeredAt}.`
      this.print(`  ${wrap(next, 2)}`)
    } else if (!isDryRun) {
      this.print(route === '' ? `  ${use} fails until it has code.` : `  ${route} answers 501 until it has code.`)
    }
    return { ...generated, written: !isDryRun }
  }
}
