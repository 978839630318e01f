import { makeConnectionRegistry } from '../connection/index.ts'
import { findSecrets, hideSecrets } from '../definition/index.ts'
import { checkSystem, loadReleasePlugins, makeHostServices, makeRedactor, silentLog, type Host } from '../host/index.ts'
import { isWaypostError, messageOf, resolveReferences, withDeadline } from '../kit/index.ts'
import { loadArtifacts, type Manifest } from '../release/index.ts'
import { errors } from './errors.ts'
import { findActiveManifest, loadCatalog } from './releases/describe-release.ts'
import { locateRelease, type LocateDefinition } from './releases/host-releases.ts'

/** A connection of the active release, or System. */
export interface ListedConnection {
  readonly name: string
  /** Its class; for System the kind of its database. */
  readonly class: string
  /** Undefined for System, and for a class that is not known. */
  readonly plugin: string | undefined
  readonly description: string | undefined
  /** Without secrets; variables are not resolved. */
  readonly config: Readonly<Record<string, unknown>>
  /** `file:line` */
  readonly source: string | undefined
  /** Number of its migrations. */
  readonly migrations: number
}

/** Lists System and the connections of the active release, by name. */
export async function listHostConnections(host: Host, locate?: LocateDefinition): Promise<readonly ListedConnection[]> {
  const { system } = host
  const active = await findActiveManifest(host)
  const { connections: classes } = await loadCatalog(active?.manifest)
  const places = active === undefined ? undefined : (await locateRelease(system, active.id, locate)).places
  const count = (name: string) => active?.manifest.migrations.filter((one) => one.connection === name).length ?? 0
  const own = Object.entries(active?.manifest.connections ?? {}).map(([name, use]): ListedConnection => {
    const known = classes.get(use.class)
    return {
      name,
      class: use.class,
      plugin: known?.plugin,
      description: known?.description,
      config: hideSecrets(use.config, known?.config),
      source: places?.get(`/connection/${name}`),
      migrations: count(name),
    }
  })
  const main: ListedConnection = {
    name: 'System',
    class: system.kind,
    plugin: undefined,
    description: undefined,
    config: {},
    source: undefined,
    migrations: count('System'),
  }
  return [main, ...own.toSorted((a, b) => (a.name < b.name ? -1 : 1))]
}

/** The result of a test. */
export interface ConnectionTest {
  readonly ms: number
  /** Why it does not work, without secrets; undefined if it does. */
  readonly problem: string | undefined
}

const testMs = 10_000

/**
 * Opens a connection of the active release with the current variables of this server, checks it and closes it.
 * @param waitMs how long to wait; 10 s by default
 * @throws WP_SERVER_CONNECTION_UNKNOWN
 */
export async function testHostConnection(host: Host, name: string, waitMs = testMs): Promise<ConnectionTest> {
  const active = await findActiveManifest(host)
  const use = active && Object.hasOwn(active.manifest.connections, name) ? active.manifest.connections[name] : undefined
  if (use === undefined && name !== 'System') throw errors.WP_SERVER_CONNECTION_UNKNOWN({ name })
  const startedAt = performance.now()
  const testing = use === undefined ? testSystem(host) : testUse(host, { name, use, waitMs, release: active! })
  const problem = await withDeadline(testing, waitMs + 1000, () => `it does not respond within ${waitMs / 1000} s`)
  return { ms: performance.now() - startedAt, problem }
}

async function testSystem({ system }: Host): Promise<string | undefined> {
  try {
    await checkSystem(system)
    return undefined
  } catch (error) {
    return makeRedactor(new Set())(messageOf(error))
  }
}

interface TestedUse {
  readonly name: string
  readonly use: Manifest['connections'][string]
  readonly waitMs: number
  readonly release: { readonly id: string; readonly manifest: Manifest }
}

async function testUse(host: Host, { name, use, waitMs, release }: TestedUse): Promise<string | undefined> {
  const { id, manifest } = release
  const services = makeHostServices(host, silentLog)
  const registry = makeConnectionRegistry({
    variables: host.variables,
    folder: host.folder,
    log: silentLog,
    services,
    builtIn: {},
    waitMs,
  })
  const { connections: classes } = await loadCatalog(manifest)
  const { value } = resolveReferences(use.config, host.variables)
  const secrets = [...findSecrets(value, classes.get(use.class)?.config), ...host.logSecrets]
  try {
    const artifacts = await loadArtifacts(host.system, { id }, manifest.artifacts)
    const plugins = await loadReleasePlugins(host, { manifest, artifacts })
    const set = await registry.acquire({ [name]: use }, plugins.connections)
    return hideIn(set.down.get(name), secrets)
  } catch (error) {
    if (!isWaypostError(error)) throw error
    return hideIn(error.message, secrets)
  } finally {
    void registry.close() // one that does not respond may also not close
  }
}

function hideIn(message: string | undefined, secrets: readonly string[]): string | undefined {
  if (message === undefined) return undefined
  const safe = secrets
    .filter((secret) => secret !== '')
    .reduce((text, secret) => text.replaceAll(secret, '[hidden]'), message)
  return makeRedactor(new Set())(safe)
}
