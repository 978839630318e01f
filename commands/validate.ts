import { Flags, WaypostCommand, plural, printDiagnostics } from '../bin/cli/index.ts'
import { readEnvironment, type Diagnostic } from '../src/kit/index.ts'

export default class Validate extends WaypostCommand {
  static override description = 'Check everything of a project that needs no server. No code of the project runs.'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --types --env',
    '<%= config.bin %> <%= command.id %> --json',
  ]
  static override enableJsonFlag = true
  static override flags = {
    types: Flags.boolean({ description: "Run the project's TypeScript compiler too" }),
    env: Flags.boolean({ description: 'Variables that the project names and nobody set are errors' }),
    strict: Flags.boolean({ description: 'Warnings fail as well' }),
  }

  async run(): Promise<unknown> {
    const { flags } = await this.parse(Validate)
    const began = performance.now()
    const folder = process.cwd()
    const { checkTypes, validateProject } = await import('../src/project/index.ts')
    const { diagnostics, counts, ...report } = await validateProject(
      folder,
      flags.env ? readEnvironment(folder) : undefined,
    )
    const types = flags.types && report.ok ? await checkTypes(folder) : { ok: true, output: '' }
    const isClean = report.ok && types.ok && !(flags.strict && diagnostics.length > 0)
    if (!isClean) process.exitCode = 1

    if (!this.jsonEnabled()) {
      printDiagnostics(diagnostics, process.stdout)
      if (types.output !== '') this.print(types.output)
      const seconds = `${((performance.now() - began) / 1000).toFixed(2)} s`
      const { routes, schemas, events } = counts
      const checked = [plural(routes, 'route'), plural(schemas, 'schema'), plural(events, 'event')].join(', ')
      if (diagnostics.length > 0) this.note(`${summarise(diagnostics)} (${checked}; ${seconds})`)
      else if (types.ok) this.print(`No problem: ${checked} (${seconds})`)
      else this.note(`The types do not fit (${checked}; ${seconds})`)
    }
    return {
      ok: isClean,
      diagnostics: diagnostics.map(flatten),
      ...(flags.types ? { types: types.output.split('\n').filter(Boolean) } : {}),
    }
  }
}

function flatten({ code, severity, message, file, range, hint }: Diagnostic) {
  return {
    code,
    severity,
    message,
    file,
    line: range.start.line,
    column: range.start.column,
    ...(hint === undefined ? {} : { hint }),
  }
}

function summarise(diagnostics: readonly Diagnostic[]): string {
  const errors = diagnostics.filter((one) => one.severity === 'error').length
  const warnings = diagnostics.length - errors
  const files = new Set(diagnostics.map((one) => one.file)).size
  const parts = [
    ...(errors > 0 ? [plural(errors, 'error')] : []),
    ...(warnings > 0 ? [plural(warnings, 'warning')] : []),
  ]
  return `${parts.join(' and ')} in ${plural(files, 'file')}`
}
