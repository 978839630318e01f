import { WaypostCommand, formatTable, plural, printDiagnostics } from '../bin/cli/index.ts'
import { readEnvironment } from '../src/kit/index.ts'
import type { ListedFolder, ListedRoute } from '../src/project/index.ts'

export default class Routes extends WaypostCommand {
  static override description = 'List the methods of all routes, including plugin routes'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --verbose # also the steps of each method, and static folders',
    '<%= config.bin %> <%= command.id %> --json',
  ]
  static override enableJsonFlag = true

  async run(): Promise<unknown> {
    const { flags } = await this.parse(Routes)
    const { listRoutes } = await import('../src/project/index.ts')
    const folder = process.cwd()
    const { routes, static: folders } = await listRoutes({
      folder,
      variables: readEnvironment(folder),
      onPluginError: (error) => this.note(`Some routes are not listed. ${error.message}`),
      onDiagnostics: (diagnostics) => printDiagnostics(diagnostics, process.stderr),
    })
    if (!this.jsonEnabled()) {
      this.#show(routes, flags.verbose)
      if (flags.verbose) for (const line of formatFolders(folders)) this.print(line)
    }
    return { routes, static: folders }
  }

  #show(routes: readonly ListedRoute[], isVerbose: boolean): void {
    if (routes.length === 0) {
      this.note('No routes yet. Generate one: waypost generate:route GET /hello --public')
      return
    }
    for (const line of format(routes, isVerbose)) this.print(line)
    const paths = new Set(routes.map(({ path }) => path))
    this.note(`\n${plural(paths.size, 'route')}, ${plural(routes.length, 'method')}`)
  }
}

function format(routes: readonly ListedRoute[], isVerbose: boolean): string[] {
  const cells = (of: (route: ListedRoute) => string) => routes.map(of)
  return formatTable(
    [
      { title: 'METHOD', cells: cells(({ method }) => method) },
      { title: 'PATH', cells: cells(({ path }) => path), narrow: 'wrap', order: 3, minWidth: 12 },
      { title: 'ACCESS', cells: cells(nameAccess), narrow: 'wrap', order: 2, minWidth: 10 },
      {
        title: 'ACTION',
        cells: cells(({ action, plugin = '' }) => action ?? `plugin ${plugin}`),
        narrow: 'wrap',
        order: 0,
        minWidth: 18,
      },
      ...(isVerbose
        ? [{ title: 'STEPS', cells: cells(nameSteps), narrow: 'wrap' as const, order: 4, minWidth: 10 }]
        : []),
      { title: 'SOURCE', cells: cells(({ source }) => source), narrow: 'wrap', order: 1, minWidth: 18 },
    ],
    // Not shortened if the output is piped or saved.
    process.stdout.columns ?? Number.POSITIVE_INFINITY,
  )
}

function formatFolders(folders: readonly ListedFolder[]): string[] {
  if (folders.length === 0) return []
  const cells = (of: (folder: ListedFolder) => string) => folders.map(of)
  return [
    '',
    ...formatTable(
      [
        { title: 'STATIC', cells: cells(({ path }) => path), narrow: 'wrap', order: 1, minWidth: 12 },
        { title: 'FOLDER', cells: cells(({ folder }) => folder), narrow: 'wrap', order: 0, minWidth: 12 },
        { title: 'FALLBACK', cells: cells(({ fallback = '' }) => fallback), narrow: 'wrap', order: 2, minWidth: 10 },
        { title: 'SOURCE', cells: cells(({ source }) => source), narrow: 'wrap', order: 3, minWidth: 18 },
      ],
      process.stdout.columns ?? Number.POSITIVE_INFINITY,
    ),
  ]
}

function nameSteps({ steps = [], without = [] }: ListedRoute): string {
  return [...steps.map(({ name, action }) => `${name} ${action}`), ...without.map((name) => `without ${name}`)].join(
    ', ',
  )
}

function nameAccess({ public: isPublic, scopes, deprecated }: ListedRoute): string {
  const access = isPublic ? 'public' : scopes.length === 0 ? 'any token' : scopes.join(' or ')
  return deprecated === undefined ? access : `${access} (deprecated)`
}
