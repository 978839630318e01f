import { Args, HostCommand, plural, shortenCommit, toPrintable, wrap } from '../../bin/cli/index.ts'
import type { ListedActivation, ReleaseDetails } from '../../src/operate/index.ts'

type Manifest = ReleaseDetails['manifest']

const indent = 15

export default class ReleaseShow extends HostCommand {
  static override description = 'Show the contents and history of a release'
  static override examples = [
    '<%= config.bin %> <%= command.id %> 9b07d3c5',
    '<%= config.bin %> <%= command.id %> 9b07d3c5 --json',
  ]
  static override enableJsonFlag = true
  static override args = {
    release: Args.string({ description: 'Id of the release; its first characters are enough', required: true }),
  }

  async run(): Promise<unknown> {
    const { args } = await this.parse(ReleaseShow)
    const { openHost } = await import('../../src/host/index.ts')
    const { showHostRelease } = await import('../../src/operate/index.ts')
    return this.withHost(openHost, async (host) => {
      this.noteTarget(host)
      const shown = await showHostRelease(host, args.release)
      this.#show(shown)
      return toJson(shown)
    })
  }

  #show({ id, manifest, message, createdAt, createdBy, activations }: ReleaseDetails): void {
    this.#line('Release', id)
    this.#line('Built by', `waypost ${manifest.waypost}`)
    this.#line('Stored', `${timeOf(createdAt)} by ${createdBy}`)
    for (const one of activations) this.#line('Activated', describeActivation(one))
    if (message !== undefined) this.#line('Message', message)
    this.print()
    for (const { path, methods } of manifest.routes) {
      for (const { method, ...access } of methods)
        this.#line('Route', `${method.padEnd(6)} ${path}   ${describeAccess(access)}`)
    }
    for (const [title, names] of listNames(manifest)) {
      if (names.length > 0) this.#line(title, names.join(', '))
    }
    this.#line('Artifacts', describeArtifacts(manifest))
  }

  #line(title: string, text: string): void {
    this.print(`  ${title.padEnd(indent - 2)}${wrap(toPrintable(text), indent)}`)
  }
}

function describeActivation({ kind, activatedAt, activatedBy, message, commit }: ListedActivation): string {
  const suffix = message === undefined ? '' : `: ${message}`
  const at = commit === undefined ? '' : `, commit ${shortenCommit(commit)}`
  return `${timeOf(activatedAt)} by ${activatedBy}, ${kind}${at}${suffix}`
}

function describeAccess({
  public: isPublic,
  scopes,
}: {
  readonly public: boolean
  readonly scopes: readonly string[]
}) {
  if (isPublic) return 'public'
  return scopes.length === 0 ? 'any valid token' : `scope ${scopes.join(' or ')}`
}

function describePlugin({ from, version, ...rest }: Manifest['plugins'][number]): string {
  const words = [version ?? [], 'host' in rest ? 'installed on servers' : []].flat()
  return words.length === 0 ? from : `${from} (${words.join(', ')})`
}

/** Only shows the class of a connection, because its config may contain secrets. */
function listNames(manifest: Manifest): readonly (readonly [title: string, names: readonly string[]])[] {
  const uses = Object.entries(manifest.connections).map(([name, use]) => `${name} (${use.class})`)
  const variables = Object.entries(manifest.variables)
  return [
    ['Schemas', Object.keys(manifest.schemas)],
    ['Scopes', Object.keys(manifest.scopes)],
    ['Events', Object.keys(manifest.events)],
    ['Rates', Object.keys(manifest.rates)],
    ['Listeners', Object.keys(manifest.listeners ?? {})],
    ['Cronjobs', Object.keys(manifest.cronjobs)],
    ['Connections', uses],
    ['Plugins', manifest.plugins.map(describePlugin)],
    ['Settings', Object.entries(manifest.config).map(([name, value]) => `${name} ${JSON.stringify(value)}`)],
    ['Variables', variables.map(([name, use]) => describeVariable(name, use))],
    ['Migrations', manifest.migrations.map(({ connection, name }) => `${connection}/${name}`)],
  ]
}

function describeVariable(name: string, { optional, declared }: Manifest['variables'][string]): string {
  const words = [declared?.type ?? [], declared?.secret ? 'secret' : [], optional ? 'optional' : []].flat()
  return words.length === 0 ? name : `${name} (${words.join(', ')})`
}

function describeArtifacts({ artifacts }: Manifest): string {
  const sizes = Object.values(artifacts)
  const bytes = sizes.reduce((sum, size) => sum + size, 0)
  return `${plural(sizes.length, 'artifact')}, ${Math.ceil(bytes / 1024)} KB`
}

function toJson({ id, message, createdBy, createdAt, activations, manifest }: ReleaseDetails) {
  return {
    release: id,
    waypost: manifest.waypost,
    message: message ?? null,
    created: timeOf(createdAt),
    created_by: createdBy,
    activations: activations.map((one) => ({
      kind: one.kind,
      activated: timeOf(one.activatedAt),
      by: one.activatedBy,
      user_id: one.actor.userId ?? null,
      client_id: one.actor.clientId ?? null,
      message: one.message ?? null,
      commit: one.commit ?? null,
    })),
    routes: manifest.routes.flatMap(({ path, methods }) =>
      methods.map(({ method, public: isPublic, scopes }) => ({ method, path, public: isPublic, scopes })),
    ),
    schemas: Object.keys(manifest.schemas),
    scopes: Object.keys(manifest.scopes),
    events: Object.keys(manifest.events),
    rates: Object.keys(manifest.rates),
    listeners: Object.keys(manifest.listeners ?? {}),
    cronjobs: Object.keys(manifest.cronjobs),
    connections: Object.entries(manifest.connections).map(([name, use]) => ({ name, class: use.class })),
    plugins: manifest.plugins.map(({ from }) => from),
    settings: manifest.config,
    variables: manifest.variables,
    migrations: manifest.migrations.map(({ connection, name, checksum }) => ({ connection, name, checksum })),
    artifacts: manifest.artifacts,
  }
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString()
}
