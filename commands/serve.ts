import { Flags, WaypostCommand } from '../bin/cli/index.ts'
import { readEnvironment } from '../src/kit/index.ts'

/** What is left open by then, a dead line to the database for example, does not keep the process. */
const lingerMs = 1000

export default class Serve extends WaypostCommand {
  static override description = 'Serve the active release of System; needs no project folder.'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    'WAYPOST_SYSTEM_URL=postgresql://… <%= config.bin %> <%= command.id %> --port 8080',
    '<%= config.bin %> <%= command.id %> --cron',
  ]
  static override flags = {
    port: Flags.integer({ description: 'Port to listen on; PORT or 3000 by default, 0 for any', min: 0, max: 65_535 }),
    cron: Flags.boolean({ description: 'Run cronjobs too; of several servers one runs each slot' }),
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(Serve)
    const stop = this.stopSignal()
    const { serve } = await import('../src/server/index.ts')
    const folder = process.cwd()
    const server = await serve({ folder, variables: readEnvironment(folder), port: flags.port, cron: flags.cron })
    this.note(`  Serving    http://localhost:${server.port}   System ${server.host.system.target}`)
    if (!stop.aborted) await new Promise((resolve) => stop.addEventListener('abort', resolve, { once: true }))
    await server.close()
    setTimeout(() => process.exit(), lingerMs).unref()
  }
}
