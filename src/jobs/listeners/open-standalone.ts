import { makeConnectionRegistry } from '../../connection/index.ts'
import {
  loadReleasePlugins,
  logClosed,
  makeHostServices,
  systemConnection,
  termsOf,
  withSystemVariables,
  type Host,
  type LoadPlugins,
} from '../../host/index.ts'
import { makeConfigPreparer } from '../../plugin/index.ts'
import { loadArtifacts, type StoredRelease } from '../../release/index.ts'
import type { Logger } from '../../runtime/index.ts'
import { openListeners, type ListenerSet } from './open-listeners.ts'

/** Opens the listeners of a release with connections of their own. */
export async function openStandaloneListeners(
  opened: Host,
  release: StoredRelease,
  { logger: log, loadPlugins }: { readonly logger: Logger; readonly loadPlugins?: LoadPlugins | undefined },
): Promise<ListenerSet> {
  const host = await withSystemVariables(opened, Object.keys(release.manifest.variables))
  const { variables, folder, system } = host
  const { settings } = termsOf(release, variables)
  const services = makeHostServices(host, log, () => settings.delivery_allow)
  const builtIn = { System: systemConnection(system) }
  const registry = makeConnectionRegistry({ variables, folder, log, services, builtIn })
  try {
    const artifacts = await loadArtifacts(system, release, release.manifest.artifacts)
    const set = await openListeners(
      {
        host,
        loadPlugins: loadPlugins ?? ((wanted) => loadReleasePlugins(host, wanted)),
        services,
        prepareConfig: makeConfigPreparer(variables),
        registry,
        isDevelopment: false,
        onClosed: ({ errors }) => logClosed({ left: [], errors }, log),
      },
      { release, artifacts },
    )
    const close = async () => {
      await set.close()
      await registry.close()
    }
    return { run: set.run, close }
  } catch (error) {
    await registry.close()
    throw error
  }
}
