import { HostCommand } from '../../bin/cli/index.ts'
import { findLocalSources, listEnvFiles, readSources } from '../../src/kit/index.ts'
import type { ListedVariable } from '../../src/operate/index.ts'

export default class EnvList extends HostCommand {
  static override description = `List variables, where they are set, and what uses them

Shows the variables in System and those that the active release uses, without values. The first location in SET IN takes \
precedence on this host.`
  static override examples = ['<%= config.bin %> <%= command.id %>', '<%= config.bin %> <%= command.id %> --json']
  static override enableJsonFlag = true

  async run(): Promise<unknown> {
    await this.parse(EnvList)
    const { listHostVariables } = await import('../../src/operate/index.ts')
    const { openHost } = await import('../../src/host/index.ts')
    return this.withHost(openHost, async (host) => {
      const sources = readSources(host.folder, listEnvFiles(host.folder))
      const variables = (await listHostVariables(host)).map((one) => ({
        ...one,
        development: findLocalSources(sources, one.name).filter((source) => source.startsWith('.env.')),
      }))
      this.#show(variables)
      return { variables: variables.map(toJson) }
    })
  }

  #show(variables: readonly Listed[]): void {
    if (variables.length === 0) {
      this.note('No variables. Set one: waypost env:set NAME')
      return
    }
    const cells = (of: (one: Listed) => string) => variables.map(of)
    this.printTable([
      { title: 'NAME', cells: cells(({ name }) => name) },
      { title: 'SET IN', cells: cells(describeSet) },
      { title: 'USED BY', cells: cells(({ uses }) => uses.join(', ') || '-'), narrow: 'wrap', order: 0 },
    ])
    const missing = variables.filter(({ isMissing }) => isMissing)
    if (missing.length > 0)
      this.note(`\nThe active release requires ${missing.map(({ name }) => name).join(', ')}: waypost env:set NAME`)
  }
}

interface Listed extends ListedVariable {
  /** The files that only `dev` and the commands beside it read. */
  readonly development: readonly string[]
}

function describeSet({ set, isMissing, isRequired, development }: Listed): string {
  const places = [...set, ...development.map((file) => `${file} (dev)`)]
  if (places.length > 0) return places.join(', ')
  if (isMissing) return '- (missing)'
  return isRequired ? '-' : '- (has a default)'
}

function toJson({ name, description, type, set, setOn, development, uses, isRequired, isMissing, changed }: Listed) {
  return {
    name,
    description,
    type,
    set,
    set_on: setOn,
    set_in_development: development,
    uses,
    required: isRequired,
    missing: isMissing,
    changed: changed && { at: new Date(changed.at).toISOString(), by: changed.by },
  }
}
