import { Flags, WaypostCommand, plural, printAnnotations, printDiagnostics } from '../bin/cli/index.ts'
import { readEnvironment, type Diagnostic } from '../src/kit/index.ts'
import type { SystemVariables } from '../src/operate/index.ts'
import type { ProjectCounts, TypeReport, ValidationReport } from '../src/project/index.ts'

export default class Validate extends WaypostCommand {
  static override description = 'Validate the project\nNeeds no server and runs no actions or migrations.'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --types --env',
    '<%= config.bin %> <%= command.id %> --strict --format=github',
    '<%= config.bin %> <%= command.id %> --json',
  ]
  static override enableJsonFlag = true
  static override flags = {
    types: Flags.boolean({ description: "Also run the project's TypeScript compiler" }),
    env: Flags.boolean({ description: 'Report variables that are set neither here nor in System as errors' }),
    strict: Flags.boolean({ description: 'Treat warnings as errors' }),
    format: Flags.string({
      description: 'Output format: text, or github for GitHub Actions annotations',
      options: ['text', 'github'],
    }),
  }

  async run(): Promise<unknown> {
    const { flags } = await this.parse(Validate)
    if (flags.format !== undefined && this.jsonEnabled()) {
      throw this.usageError('--json and --format cannot be combined')
    }
    const startedAt = performance.now()
    const folder = process.cwd()
    const { checkTypes, typesReplaced, validateProject } = await import('../src/project/index.ts')
    const system = flags.env ? await this.#readSystem(folder) : undefined
    const report = await validateProject(folder, system?.variables)
    const types =
      flags.types && report.ok ? await checkTypes(folder) : { ok: true, output: '', diagnostics: [], rest: '' }
    const isSound = report.ok && !(flags.strict && report.diagnostics.length > 0)
    if (!isSound || !types.ok) process.exitCode = 1

    if (!this.jsonEnabled()) {
      if (flags.format === 'github') printAnnotations([...report.diagnostics, ...types.diagnostics], folder)
      else this.#printProblems(report, types)
      if (report.types === 'unwritable')
        this.note('The types in .waypost were not updated, because the folder cannot be written')
      if (report.types === 'replaced') this.note(typesReplaced)
      if (system !== undefined) this.note(describeSystem(system, report))
      this.#printResult(report, types.ok, performance.now() - startedAt)
    }
    return {
      ok: isSound && types.ok,
      diagnostics: report.diagnostics.map(flatten),
      ...(system === undefined ? {} : { system: toJson(system, report) }),
      ...(flags.types ? { types: types.output.split('\n').filter(Boolean) } : {}),
    }
  }

  async #readSystem(folder: string): Promise<SystemVariables> {
    const { readSystemVariables } = await import('../src/operate/index.ts')
    return readSystemVariables({ folder, variables: readEnvironment(folder) })
  }

  #printProblems({ diagnostics }: ValidationReport, types: TypeReport): void {
    printDiagnostics([...diagnostics, ...types.diagnostics], process.stdout)
    if (types.rest !== '') this.print(types.rest)
  }

  #printResult({ diagnostics, counts }: ValidationReport, areTypesOk: boolean, elapsedMs: number): void {
    const checked = describeCounts(counts)
    const seconds = `${(elapsedMs / 1000).toFixed(2)} s`
    if (diagnostics.length > 0) this.note(`${summarise(diagnostics)} (${checked}; ${seconds})`)
    if (!areTypesOk) this.note(`Type errors (${checked}; ${seconds})`)
    else if (diagnostics.length === 0) this.print(`No problems: ${checked} (${seconds})`)
  }
}

function describeSystem({ names, message }: SystemVariables, { variables }: ValidationReport): string {
  if (names === undefined)
    return `System was not read, so variables that are set only there count as not set: ${message}`
  const used = variables.filter((name) => names.includes(name))
  return used.length === 0 ? `${message} sets no variable of the project` : `${message} sets ${used.join(', ')}`
}

function toJson({ names, message }: SystemVariables, { variables }: ValidationReport) {
  return names === undefined
    ? { read: false, reason: message }
    : { read: true, variables: variables.filter((name) => names.includes(name)) }
}

function describeCounts({ routes, schemas, events }: ProjectCounts): string {
  return [plural(routes, 'route'), plural(schemas, 'schema'), plural(events, 'event')].join(', ')
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
