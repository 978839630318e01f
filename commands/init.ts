import path from 'node:path'
import { Args, Flags, WaypostCommand, paint, plural } from '../bin/cli/index.ts'

export default class Init extends WaypostCommand {
  static override description = 'Scaffold a new project that runs at once.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> todo',
    '<%= config.bin %> <%= command.id %> my-api --template empty --no-install --yes',
  ]
  static override args = { dir: Args.string({ description: 'Folder to write the project into', default: '.' }) }
  static override flags = {
    template: Flags.string({ description: 'What to start from', default: 'todo', env: 'WAYPOST_TEMPLATE' }),
    force: Flags.boolean({ description: 'Write the files that are missing into a folder that is not empty' }),
    install: Flags.boolean({ description: 'Install the dependencies with npm', default: true, allowNo: true }),
    yes: Flags.boolean({ char: 'y', description: 'Ask nothing' }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Init)
    const folder = path.resolve(args.dir)
    const { initProject, validateProject } = await import('../src/project/index.ts')
    const report = await initProject({ folder, template: flags.template, force: flags.force, install: flags.install })
    const name = path.relative('.', folder) || '.'
    this.print()
    this.print(`  Created    ${name}/ from the template "${report.template}", ${plural(report.files.length, 'file')}`)
    this.print(`  Installed  ${describeInstall(report, name)}`)
    const { ok, counts } = await validateProject(folder)
    const checked = [
      plural(counts.routes, 'route'),
      plural(counts.methods, 'method'),
      plural(counts.schemas, 'schema'),
      plural(counts.events, 'event'),
    ]
    this.print(`  Checked    ${checked.join(', ')}: ${ok ? 'no problem' : 'see waypost validate'}`)
    this.print('\n  Next')
    const next = [
      ...(name === '.' ? [] : [`cd ${quote(name)}`]),
      ...(report.installedMs === undefined ? ['npm install'] : []),
      'npm run dev',
    ]
    for (const command of next) this.print(`    ${paint('cyan', command)}`)
    this.print()
  }
}

function describeInstall(report: { installedMs: number | undefined; installProblem?: string }, name: string): string {
  if (report.installedMs !== undefined) return `waypost with npm, ${(report.installedMs / 1000).toFixed(1)} s`
  if (report.installProblem === undefined) return 'nothing, as asked'
  return `nothing: ${report.installProblem}. Run npm install in ${name}/ later.`
}

/** A path that a shell takes as one word. */
function quote(name: string): string {
  return /^[\w./@+-]+$/.test(name) ? name : `'${name.replaceAll("'", `'\\''`)}'`
}
