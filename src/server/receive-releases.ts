import { mountReleases, type SystemDraft } from '../backend/index.ts'
import type { Guard } from '../auth/index.ts'
import type { JsonSchema } from '../contract/index.ts'
import { variable, type Variables } from '../kit/index.ts'
import type { PluginSet } from '../plugin/index.ts'
import {
  findIntact,
  loadActiveId,
  loadArtifacts,
  loadManifest,
  parseManifest,
  type ReleaseOutline,
} from '../release/index.ts'
import type { Endpoint } from '../runtime/index.ts'
import { errors } from './errors.ts'
import { surveyRelease, surveyRollback } from '../operate/index.ts'
import { type Host, type LoadPlugins, migrateRelease, readBackendSettings, withSystemVariables } from '../host/index.ts'

export interface ReceiveOptions {
  readonly host: Host
  readonly loadPlugins: LoadPlugins
  readonly guard: Guard
  readonly draft: SystemDraft
  /** Whether this is `dev`. */
  readonly isDevelopment: boolean
}

/** Mounts the receiving side of deployments as this server's environment allows. @throws WP_SERVER_REMOTE_DEPLOY */
export async function receiveReleases({
  host,
  loadPlugins,
  guard,
  draft,
  isDevelopment,
}: ReceiveOptions): Promise<Endpoint> {
  const builtIn = await loadPlugins(noRelease)
  /** A survey runs no code of the release that it is about, only of the active one. */
  const choosePlugins = async ({ connections, routes }: ReleaseOutline): Promise<PluginSet> => {
    const actions = routes.flatMap(({ methods }) => methods.map(({ action }) => action))
    const isBuiltIn =
      Object.values(connections).every((use) => builtIn.connections.has(use.class)) &&
      actions.every((action) => 'artifact' in action || builtIn.actions.has(action.class))
    return isBuiltIn ? builtIn : loadActivePlugins(host, loadPlugins)
  }
  const closed = readRemoteDeploy(host.variables) ? undefined : 'off'
  return mountReleases({
    system: host.system,
    guard,
    closed: isDevelopment ? 'development' : closed,
    classes: {
      connections: configsOf(builtIn.connections),
      actions: configsOf(builtIn.actions),
      steps: configsOf(builtIn.steps),
    },
    migrate: async (release) =>
      migrateRelease({ host: await withSystemVariables(host), plugins: await loadPlugins(release), release }),
    async surveyRelease(release, { active: row, mayOpen }) {
      const text = row && findIntact(row)
      const active = row && { id: row.id, manifest: text === undefined ? undefined : parseManifest(text) }
      const [sources, plugins] = [await withSystemVariables(host), await choosePlugins(release)]
      return surveyRelease({ host: sources, release, active, plugins, mayOpen })
    },
    surveyRollback: (beginning) => surveyRollback(host, beginning),
    draft: !isDevelopment && readBackendSettings(host.variables).mode === 'on' ? draft : undefined,
    loadDraftFiles: () => draft.loadPublishedFiles(),
  })
}

const noRelease = { manifest: { plugins: [] }, artifacts: [] }

/** The plugins of the active release. */
async function loadActivePlugins({ system }: Host, loadPlugins: LoadPlugins): Promise<PluginSet> {
  const id = await loadActiveId(system)
  if (id === undefined) return loadPlugins(noRelease)
  const manifest = await loadManifest(system, id)
  return loadPlugins({ manifest, artifacts: await loadArtifacts(system, { id }, manifest.artifacts) })
}

function configsOf(
  classes: ReadonlyMap<string, { readonly class: { readonly config: object; readonly routesOnly?: true } }>,
) {
  const entries = [...classes].map(([name, { class: one }]) => {
    const { config, routesOnly } = one
    return [name, { config: config as JsonSchema, ...(routesOnly && { routesOnly }) }] as const
  })
  return Object.fromEntries(entries)
}

/** Whether `WAYPOST_REMOTE_DEPLOY` allows deployments over HTTP; only `off` forbids them. */
function readRemoteDeploy(variables: Variables): boolean {
  const value = variable(variables, 'WAYPOST_REMOTE_DEPLOY') ?? 'on'
  if (value !== 'on' && value !== 'off') throw errors.WP_SERVER_REMOTE_DEPLOY({ value })
  return value === 'on'
}
