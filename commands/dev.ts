import {
  DevConsole,
  Flags,
  WaypostCommand,
  confirm,
  isInFront,
  listenForKeys,
  openBrowser,
  openInspector,
  untilAborted,
  withDefault,
} from '../bin/cli/index.ts'
import { messageOf, readEnvironment } from '../src/kit/index.ts'
import type { DevServer, TakenPort } from '../src/project/index.ts'

const inspectorPort = 9229

export default class Dev extends WaypostCommand {
  static override description = 'Serve the project of this folder and take over every save.'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --port 4000 --no-deliver',
    '<%= config.bin %> <%= command.id %> --open --inspect',
  ]
  static override flags = {
    port: Flags.integer({ description: 'Port to listen on; PORT or 3000 by default, 0 for any', min: 0, max: 65_535 }),
    host: Flags.string({ description: 'Address to listen on; HOST or 127.0.0.1 by default, 0.0.0.0 for every one' }),
    'allow-host': Flags.string({
      description: 'Answer requests for this host too; may be repeated',
      helpValue: 'NAME',
      multiple: true,
      multipleNonGreedy: true,
    }),
    deliver: Flags.boolean({ description: 'Deliver events while this runs', default: true, allowNo: true }),
    open: Flags.boolean({ description: 'Open the reference of the API in the browser' }),
    inspect: Flags.integer({
      description: `Let a debugger attach: --inspect=PORT, or ${inspectorPort} without a port`,
      helpValue: 'PORT',
      min: 0,
      max: 65_535,
    }),
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(Dev, withDefault(this.argv, '--inspect', inspectorPort))
    const stop = this.stopSignal()
    const folder = process.cwd()
    const inspector = flags.inspect === undefined ? undefined : await openInspector(flags.inspect)
    const hasKeys = this.isInteractive() && process.stdout.isTTY && isInFront()
    const console = new DevConsole({ hasKeys, inspector: inspector?.url })
    const { dev } = await import('../src/project/index.ts')
    const server = await dev({
      folder,
      variables: readEnvironment(folder),
      port: flags.port,
      host: flags.host,
      allowedHosts: flags['allow-host'],
      deliver: flags.deliver,
      imports: { signal: stop },
      console,
      ...(hasKeys ? { onPortTaken: offerNextPort } : {}),
    })
    if (flags.open) browse(server, console)
    const quit = new AbortController()
    const actions = actionsOf(server, console, () => quit.abort())
    const stopKeys = hasKeys ? listenForKeys(process.stdin, { actions }) : undefined
    await untilAborted(AbortSignal.any([stop, quit.signal]))
    stopKeys?.()
    await server.close()
    inspector?.close()
  }
}

function offerNextPort({ port, owner, next }: TakenPort): Promise<boolean> {
  return confirm(`The port ${port} is taken by ${owner}. Listen on ${next} instead?`)
}

/** What each key does. */
function actionsOf(server: DevServer, console: DevConsole, quit: () => void): Record<string, () => void> {
  let isReloading = false
  const report = (work: Promise<unknown>) => work.catch((error: unknown) => console.warned(messageOf(error)))
  const reload = async () => {
    if (isReloading) return
    isReloading = true
    await server.reload().finally(() => (isReloading = false))
  }
  const showToken = async () => console.showToken(await server.issueToken(), server.started)
  return {
    r: () => void report(reload()),
    t: () => void report(showToken()),
    d: () => browse(server, console),
    q: quit,
    '\r': () => console.space(),
  }
}

function browse({ started: { docs, url } }: DevServer, console: DevConsole): void {
  const address = docs ?? url
  openBrowser(address, (reason) => console.warned(`No browser could be opened for ${address}: ${reason}`))
}
