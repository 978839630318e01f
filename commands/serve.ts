import { Flags, WaypostCommand } from '../bin/cli/index.ts'
import { readEnvironment, refreshEnvironment } from '../src/kit/index.ts'

/** What is left open by then, a dead line to the database for example, does not keep the process. */
const lingerMs = 1000

export default class Serve extends WaypostCommand {
  static override description = `Serve the active release of System; needs no project folder.

Follows each deployment without dropping a request. A release that does not come up leaves the one before, and is tried
again by itself. SIGTERM ends it in order; a second one, or Ctrl-C, ends it sooner.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    'WAYPOST_SYSTEM_URL=postgresql://… <%= config.bin %> <%= command.id %> --port 8080',
    '<%= config.bin %> <%= command.id %> --reuse-port --ops-port 9091    # one of several on this host',
    '<%= config.bin %> <%= command.id %> --cron                          # the only process of this host',
  ]
  static override flags = {
    port: Flags.integer({ description: 'Port to listen on; PORT or 3000 by default, 0 for any', min: 0, max: 65_535 }),
    'reuse-port': Flags.boolean({ description: 'Share the port with other servers of this host that say so too' }),
    'ops-port': Flags.integer({
      description: 'Port for health and metrics without a token, on OPS_HOST (127.0.0.1)',
      min: 0,
      max: 65_535,
    }),
    cron: Flags.boolean({ description: 'Run cronjobs and deliver events too; of several servers one runs each slot' }),
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(Serve)
    const stop = this.stopSignal()
    const { serve } = await import('../src/server/index.ts')
    const folder = process.cwd()
    const variables = readEnvironment(folder)
    const server = await serve({
      folder,
      variables,
      port: flags.port,
      reusePort: flags['reuse-port'],
      opsPort: flags['ops-port'],
      cron: flags.cron,
      signal: stop,
      readVariables: () => readEnvironment(folder),
      refresh: () => void refreshEnvironment(variables, folder),
    })
    this.note(`  Serving    http://localhost:${server.port}   System ${server.host.system.target}`)
    if (server.ops !== undefined) this.note(`  Ops        http://${server.ops.host}:${server.ops.port}/metrics`)
    if (!stop.aborted) await new Promise((resolve) => stop.addEventListener('abort', resolve, { once: true }))
    await server.close(/SIGINT/.test(String(stop.reason))) // somebody waits at the terminal
    setTimeout(() => process.exit(), lingerMs).unref()
  }
}
