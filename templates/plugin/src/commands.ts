import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { Args, Command, Flags } from 'waypost/cli'

/** Writes a schema file that `waypost.yml` can include. */
class Names extends Command {
  static override description = 'Write a schema that allows only these names'
  static override examples = ['<%= config.bin %> <%= command.id %> Ann,Bob']
  static override enableJsonFlag = true
  static override args = { names: Args.string({ description: 'Comma-separated names', required: true }) }
  static override flags = { output: Flags.string({ description: 'File to write', default: 'names.yml' }) }

  async run() {
    const { args, flags } = await this.parse(Names)
    const names = args.names.split(',').map((name) => name.trim())
    await writeFile(path.join(this.project, flags.output), `enum: ${JSON.stringify(names)}\n`)
    this.print(`Wrote ${flags.output}`)
    return { file: flags.output, names }
  }
}

export const commands: Record<string, typeof Command> = { 'my-plugin:names': Names }
