import { DevConsole, Flags, WaypostCommand } from '../bin/cli/index.ts'
import { readEnvironment } from '../src/kit/index.ts'

export default class Dev extends WaypostCommand {
  static override description = 'Serve the project of this folder and take over every save.'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --port 4000 --no-deliver',
  ]
  static override flags = {
    port: Flags.integer({ description: 'Port to listen on; PORT or 3000 by default, 0 for any', min: 0, max: 65_535 }),
    host: Flags.string({ description: 'Address to listen on; HOST or 127.0.0.1 by default' }),
    deliver: Flags.boolean({ description: 'Deliver events while this runs', default: true, allowNo: true }),
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(Dev)
    const stop = this.stopSignal()
    const folder = process.cwd()
    const { dev } = await import('../src/project/index.ts')
    const server = await dev({
      folder,
      variables: readEnvironment(folder),
      port: flags.port,
      host: flags.host,
      deliver: flags.deliver,
      console: new DevConsole(),
    })
    if (!stop.aborted) await new Promise((resolve) => stop.addEventListener('abort', resolve, { once: true }))
    await server.close()
  }
}
