import {
  DevConsole,
  Flags,
  WaypostCommand,
  confirm,
  isInFront,
  listenForKeys,
  openBrowser,
  openInspector,
  plural,
  untilAborted,
  withDefault,
} from '../bin/cli/index.ts'
import { listEnvFiles, messageOf, readEnvironment } from '../src/kit/index.ts'
import type { DevServer, TakenPort } from '../src/project/index.ts'

const inspectorPort = 9229

export default class Dev extends WaypostCommand {
  static override description = 'Serve this project and reload on every save'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --port 4000 --no-deliver',
    '<%= config.bin %> <%= command.id %> --open --inspect',
  ]
  static override flags = {
    port: Flags.integer({
      description: 'Port to listen on; default: PORT or 3000, 0 for any free port',
      min: 0,
      max: 65_535,
    }),
    host: Flags.string({ description: 'Address to listen on; default: HOST or 127.0.0.1, 0.0.0.0 for all' }),
    'allow-host': Flags.string({
      description: 'Also accept requests for this host; can be repeated',
      helpValue: 'NAME',
      multiple: true,
      multipleNonGreedy: true,
    }),
    deliver: Flags.boolean({ description: 'Deliver events', default: true, allowNo: true }),
    types: Flags.boolean({ description: 'Check types in the background', default: true, allowNo: true }),
    open: Flags.boolean({ description: 'Open the API reference in the browser' }),
    inspect: Flags.integer({
      description: `Accept debuggers on this port, written as --inspect=PORT; default: ${inspectorPort}`,
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
    const isNew = await this.#offerProject(folder)
    const envFiles = listEnvFiles(folder)
    const server = await dev({
      folder,
      variables: readEnvironment(folder, envFiles),
      envFiles,
      port: flags.port,
      host: flags.host,
      allowedHosts: flags['allow-host'],
      deliver: flags.deliver,
      checksTypes: flags.types,
      imports: { signal: stop },
      console,
      ...(hasKeys ? { onPortTaken: offerNextPort } : {}),
    })
    if (flags.open) browse(server, console)
    else if (isNew) await browseBackend(server, console)
    const quit = new AbortController()
    const actions = actionsOf(server, console, () => quit.abort())
    const stopKeys = hasKeys ? listenForKeys(process.stdin, { actions }) : undefined
    await untilAborted(AbortSignal.any([stop, quit.signal]))
    stopKeys?.()
    await server.close()
    inspector?.close()
  }

  /** In an empty folder, offers to create a project. Returns whether it was created. */
  async #offerProject(folder: string): Promise<boolean> {
    const { initProject, isUnusedFolder } = await import('../src/project/index.ts')
    if (!this.isInteractive() || !(await isUnusedFolder(folder))) return false
    if (!(await confirm('There is no project in this folder. Create one?', { isDefault: true }))) return false
    this.note('Creating the project and installing waypost ...')
    const { files, manager, installProblem } = await initProject({
      folder,
      template: 'empty',
      force: false,
      install: true,
      onWait: (message) => this.note(message),
    })
    this.note(`Created ${plural(files.length, 'file')}.`)
    if (installProblem !== undefined)
      this.note(`Nothing was installed: ${installProblem}. Run ${manager} install later.`)
    return true
  }
}

function offerNextPort({ port, owner, next }: TakenPort): Promise<boolean> {
  return confirm(`Port ${port} is already in use by ${owner}. Use port ${next} instead?`)
}

/** The action of each key. */
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
    b: () => void report(browseBackend(server, console)),
    q: quit,
    '\r': () => console.space(),
  }
}

function browse({ started: { docs, url } }: DevServer, console: DevConsole): void {
  const address = docs ?? url
  openBrowser(address, (reason) => console.warned(`Cannot open a browser for ${address}: ${reason}`))
}

/** Opens the backend with a new link, because each works once. */
async function browseBackend(server: DevServer, console: DevConsole): Promise<void> {
  const address = await server.openBackend()
  if (address === undefined) console.warned('The backend is off: WAYPOST_BACKEND=off')
  else openBrowser(address, (reason) => console.warned(`Cannot open a browser for ${address}: ${reason}`))
}
