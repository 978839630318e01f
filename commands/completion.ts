import { Args, WaypostCommand } from '../bin/cli/index.ts'
import { makeCompletion, shells, type Shell } from '../bin/cli/completion.ts'

export default class Completion extends WaypostCommand {
  static override description =
    'Print a script that completes commands in a shell\nThe first line of the script shows where to load it.'
  static override examples = [
    { description: 'In bash', command: 'source <(<%= config.bin %> <%= command.id %> bash)' },
    { description: 'In zsh', command: 'source <(<%= config.bin %> <%= command.id %> zsh)' },
    { description: 'In fish', command: '<%= config.bin %> <%= command.id %> fish | source' },
  ]
  static override args = {
    shell: Args.string({ required: true, options: shells, description: 'Your shell' }),
  }

  async run(): Promise<void> {
    const { args } = await this.parse(Completion)
    process.stdout.write(makeCompletion(args.shell as Shell, this.config.commands))
  }
}
