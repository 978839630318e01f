import { existsSync } from 'node:fs'
import path from 'node:path'
import { Args, Flags, WaypostCommand, listFlag, paint, plural, wrap } from '../bin/cli/index.ts'
import { nearest, spellCommands } from '../src/kit/index.ts'
import type { InitReport } from '../src/project/index.ts'

export default class Init extends WaypostCommand {
  static override description = 'Create a project, a server folder or deployment files'
  static override examples = [
    '<%= config.bin %> <%= command.id %> todo',
    '<%= config.bin %> <%= command.id %> my-api --template empty --no-install --yes',
    '<%= config.bin %> <%= command.id %> --with docker,github     # in an existing project',
    '<%= config.bin %> <%= command.id %> server --template host --with systemd',
    '<%= config.bin %> <%= command.id %> waypost-plugin-geo --template plugin',
  ]
  static override args = { dir: Args.string({ description: 'Folder of the project', default: '.' }) }
  static override flags = {
    template: Flags.string({
      description:
        'Template: todo (default), crud (a table as an API), helpdesk (files, streams, groups, steps), empty, host (the folder of a server), or plugin (a package)',
      env: 'WAYPOST_TEMPLATE',
    }),
    with: listFlag({
      description: 'Deployment files to add to a new or existing project: docker, github, gitlab, kubernetes, systemd',
    }),
    force: Flags.boolean({ description: 'Write missing files into a folder that is not empty' }),
    install: Flags.boolean({ description: 'Install the dependencies', default: true, allowNo: true }),
    yes: Flags.boolean({ char: 'y', description: 'Do not ask for confirmation' }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Init)
    const folder = path.resolve(args.dir)
    const { initProject, listParts } = await import('../src/project/index.ts')
    const { template, with: parts = [], force, install } = flags
    this.#assertParts(parts, await listParts())
    const report = await initProject({
      folder,
      template,
      parts,
      force,
      install,
      onWait: (message) => process.stderr.write(`  ${wrap(message, 2, process.stderr)}\n`),
    })
    const name = path.relative('.', folder) || '.'
    this.print()
    if (report.template !== undefined) {
      const created = `${name}/ from the template "${report.template}", ${plural(report.files.length, 'file')}`
      this.print(`  Created    ${wrap(created, 13)}`)
      this.print(`  Installed  ${wrap(describeInstall(report, name), 13)}`)
      if (existsSync(path.join(folder, 'waypost.yml')))
        this.print(`  Checked    ${wrap(await describeCheck(folder), 13)}`)
    }
    this.#printList('Added', report.added)
    this.#printList('Kept', report.left, ' (already exists)')
    this.print('\n  Next')
    for (const command of nextSteps(report, { name, parts }))
      this.print(`    ${paint('cyan', spellCommands(command, report.manager))}`)
    this.print()
  }

  #assertParts(parts: readonly string[], known: readonly string[]): void {
    const unknown = parts.find((part) => !known.includes(part))
    if (unknown === undefined) return
    const guess = nearest(unknown, known)
    const suggestion = guess === undefined ? '' : ` Did you mean "${guess}"?`
    throw this.usageError(`Unknown part "${unknown}".${suggestion} Parts: ${known.join(', ')}`)
  }

  #printList(title: string, files: readonly string[], note = ''): void {
    for (const [index, file] of files.entries()) this.print(`  ${(index === 0 ? title : '').padEnd(11)}${file}${note}`)
  }
}

function describeInstall(report: InitReport, name: string): string {
  if (report.installedMs !== undefined)
    return `waypost with ${report.manager}, ${(report.installedMs / 1000).toFixed(1)} s`
  if (report.installProblem === undefined) return 'skipped'
  return `nothing: ${report.installProblem}. Run ${report.manager} install in ${name}/ later.`
}

async function describeCheck(folder: string): Promise<string> {
  const { validateProject } = await import('../src/project/index.ts')
  const { ok, counts } = await validateProject(folder)
  const checked = [
    plural(counts.routes, 'route'),
    plural(counts.methods, 'method'),
    plural(counts.schemas, 'schema'),
    plural(counts.events, 'event'),
  ]
  return `${checked.join(', ')}: ${ok ? 'no problems' : 'problems found; see waypost validate'}`
}

/** The first file to read for each part: it begins with the next steps. */
const firstFiles: Readonly<Record<string, string>> = {
  docker: 'compose.yml',
  github: '.github/workflows/waypost.yml',
  gitlab: '.gitlab-ci.yml',
  kubernetes: 'deploy/kubernetes/README.md',
  systemd: 'deploy/systemd/README.md',
}

function nextSteps(report: InitReport, { name, parts }: { name: string; parts: readonly string[] }): readonly string[] {
  const read = [...new Set(parts)].flatMap((part) => firstFiles[part] ?? []).map((file) => `less ${file}`)
  const change = name === '.' ? [] : [`cd ${quote(name)}`]
  if (report.template === undefined) return [...change, ...read]
  const starts = {
    host: parts.length === 0 ? ['npm start'] : ['cp .env.example .env', 'npx waypost doctor'],
    plugin: ['npm test', 'npm run build'],
  }
  const start = starts[report.template as keyof typeof starts] ?? ['npm run dev']
  return [...change, ...(report.installedMs === undefined ? ['npm install'] : []), ...start, ...read]
}

/** Quotes a path for a shell if needed. */
function quote(name: string): string {
  return /^[\w./@+-]+$/.test(name) ? name : `'${name.replaceAll("'", `'\\''`)}'`
}
