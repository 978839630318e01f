import { writeFile } from 'node:fs/promises'
import { Flags, WaypostCommand } from '../bin/cli/index.ts'
import type { Coverage as Report } from '../src/project/index.ts'

export default class Coverage extends WaypostCommand {
  static override description =
    'Run the tests and show what they do not cover\nLists methods, responses, scopes, properties, events and cronjobs of the definition that no test with createTestApp has used.'
  static override usage = '<%= command.id %> [--min=PERCENT] [--lcov=FILE] [--json] [-- COMMAND...]'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --min=80 --lcov=contract.info',
    '<%= config.bin %> <%= command.id %> -- npx vitest run',
  ]
  static override strict = false
  static override enableJsonFlag = true
  static override flags = {
    min: Flags.integer({ min: 0, max: 100, description: 'Fail if less than this percentage is covered' }),
    lcov: Flags.string({ description: 'Write the coverage by line of the definition to this file, in lcov format' }),
  }

  async run(): Promise<unknown> {
    const { flags, argv } = await this.parse(Coverage)
    const { formatCoverage, formatLcov, measureCoverage } = await import('../src/project/index.ts')
    const command = argv.length === 0 ? ['npm', 'test'] : argv.map(String)
    const { code, coverage } = await measureCoverage({ command, usesStderr: this.jsonEnabled() })
    if (flags.lcov !== undefined) await writeFile(flags.lcov, `${formatLcov(process.cwd(), coverage)}\n`)
    if (!this.jsonEnabled()) this.log(`\n${formatCoverage(coverage, process.stdout.columns ?? 100)}`)
    const isLow = coverage.percent < (flags.min ?? 0)
    if (isLow) this.note(`Less than ${flags.min}% of the definition is covered by tests`)
    process.exitCode = code === 0 && isLow ? 1 : code
    return toJson(coverage)
  }
}

function toJson({ points, touched, percent, kinds, missing }: Report): object {
  return {
    percent: Math.floor(percent * 100) / 100,
    touched,
    of: points.length,
    kinds: Object.fromEntries(kinds.map(({ kind, ...counts }) => [kind, counts])),
    missing: missing.map(({ name, kind, place, more }) => ({ name, kind, place, more })),
  }
}
