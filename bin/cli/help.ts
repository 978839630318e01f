import { CommandHelp, Help } from '@oclif/core/help'
import type { Config } from '@oclif/core/config'
import { hasColour } from './format.ts'

const start = [
  ['waypost init todo', 'create a project'],
  ['waypost dev', 'serve it and reload on every save'],
  ['waypost deploy', 'deploy it to the servers'],
] as const

/** Help that begins with examples. */
export class WaypostHelp extends Help {
  protected override CommandHelpClass = ExamplesFirst

  constructor(config: Config, output: NodeJS.WriteStream) {
    super(config, {
      stripAnsi: !hasColour(output),
      sendToStderr: output === process.stderr,
      docopts: false,
    })
  }

  override formatRoot(): string {
    const examples = this.renderList(
      start.map(([command, what]) => [command, what]),
      { indentation: 2, spacer: '\n', stripAnsi: this.opts.stripAnsi ?? false },
    )
    return [
      this.config.pjson.description,
      this.section('EXAMPLES', examples),
      this.section('USAGE', 'waypost COMMAND [arguments and flags]\nwaypost COMMAND --help'),
    ].join('\n\n')
  }
}

class ExamplesFirst extends CommandHelp {
  /** Omits the summary, which is already above. */
  protected override description(): string | undefined {
    const { summary, description = '' } = this.command
    const [, ...rest] = description.split('\n')
    const text = summary === undefined ? rest.join('\n').trim() : description
    return text === '' ? undefined : this.wrap(text)
  }

  protected override flags(flags: Parameters<CommandHelp['flags']>[0]): ReturnType<CommandHelp['flags']> {
    const isOclifJson = ({ name, helpGroup }: (typeof flags)[number]) => name === 'json' && helpGroup === 'GLOBAL'
    return super.flags(
      flags.map((flag) => (isOclifJson(flag) ? { ...flag, description: 'Print the result as JSON' } : flag)),
    )
  }

  protected override defaultUsage(): string {
    return `${super.defaultUsage()} [flags]`
  }

  protected override sections(): ReturnType<CommandHelp['sections']> {
    const sections = super.sections()
    return sections.toSorted((a, b) => rank(a.header) - rank(b.header))
  }
}

function rank(header: string): number {
  return header === 'EXAMPLES' ? 0 : 1
}
