import { Args, Flags, HostCommand, plural, shortId, toPrintable } from '../../bin/cli/index.ts'

export default class ReleaseFiles extends HostCommand {
  static override summary = 'List or restore the definition files of a release'
  static override description =
    'These are the YAML and JSON files that its last activation stores. They contain no code and no secrets.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> 9b07d3c5',
    '<%= config.bin %> <%= command.id %> 9b07d3c5 --output restored',
  ]
  static override enableJsonFlag = true
  static override args = {
    release: Args.string({ description: 'Id of the release; its first characters are enough', required: true }),
  }
  static override flags = {
    output: Flags.string({ char: 'o', description: 'Write the files to this new or empty folder' }),
  }

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(ReleaseFiles)
    const { openHost } = await import('../../src/host/index.ts')
    const { loadReleaseFiles, writeReleaseFiles } = await import('../../src/operate/index.ts')
    return this.withHost(openHost, async (host) => {
      this.noteTarget(host)
      const { id, files } = await loadReleaseFiles(host, args.release)
      if (flags.output === undefined) for (const { path } of files) this.print(toPrintable(path))
      else {
        await writeReleaseFiles(flags.output, files)
        this.print(`  Written    ${plural(files.length, 'file')} of ${shortId(id)} to ${flags.output}`)
      }
      return { release: id, files: files.map(({ path, content }) => ({ path, bytes: Buffer.byteLength(content) })) }
    })
  }
}
