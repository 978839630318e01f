import { Flags, WaypostCommand } from '../bin/cli/index.ts'
import { readEnvironment, refreshEnvironment } from '../src/kit/index.ts'

/** Anything left open by then, for example a dead database connection, does not keep the process alive. */
const lingerMs = 1000

export default class Serve extends WaypostCommand {
  static override description = `Serve the active release of System

Needs no project folder. The server switches to each new release without dropping requests. If a release fails to start, \
the server keeps serving the previous one and retries.

SIGTERM stops the server gracefully; a second SIGTERM or Ctrl+C stops it immediately.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    'WAYPOST_SYSTEM_URL=postgresql://… <%= config.bin %> <%= command.id %> --port 8080',
    '<%= config.bin %> <%= command.id %> --reuse-port --ops-port 9091   # one of several on this host',
    '<%= config.bin %> <%= command.id %> --cron                         # the only process on this host',
  ]
  static override flags = {
    port: Flags.integer({
      description: 'Port to listen on; default: PORT or 3000, 0 for any free port',
      min: 0,
      max: 65_535,
    }),
    'reuse-port': Flags.boolean({ description: 'Share the port with other servers on this host that use this flag' }),
    'ops-port': Flags.integer({
      description: 'Port for health and metrics without a token, on OPS_HOST (default: 127.0.0.1)',
      min: 0,
      max: 65_535,
    }),
    cron: Flags.boolean({
      description: 'Also run cronjobs and deliver events; each run of a cronjob happens on only one server',
    }),
    'first-run-code': Flags.boolean({
      description: 'Print the code for the first administrator even if stderr is not a terminal',
    }),
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
      makeCode: flags['first-run-code'] || process.stderr.isTTY,
      signal: stop,
      readVariables: () => readEnvironment(folder),
      refresh: () => void refreshEnvironment(variables, folder),
    })
    this.note(`  Serving    http://localhost:${server.port}`)
    if (server.otherIssuer !== undefined) {
      this.note(`  Base URL   ${server.otherIssuer}, in tokens, links and examples`)
      this.note(`             To change it: waypost issuer:change http://localhost:${server.port}`)
    }
    this.note(`  System     ${server.host.system.target}`)
    if (server.backend !== undefined) this.note(`  Backend    ${server.backend.url}`)
    if (server.backend?.code !== undefined)
      this.note(`  Code       ${server.backend.code}  creates the first administrator; works once, for 1 h`)
    else if (server.backend?.hasAdministrator === false)
      this.note('             no administrator yet: waypost user:add NAME --admin, or serve --first-run-code')
    if (server.ops !== undefined) this.note(`  Ops        http://${server.ops.host}:${server.ops.port}/metrics`)
    if (!stop.aborted) await new Promise((resolve) => stop.addEventListener('abort', resolve, { once: true }))
    await server.close(/SIGINT/.test(String(stop.reason))) // a user is waiting at the terminal
    setTimeout(() => process.exit(), lingerMs).unref()
  }
}
