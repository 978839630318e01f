import { shortId } from '../../kit/index.ts'
import { listCameUp, loadManifest } from '../../release/index.ts'
import type { Logger } from '../../runtime/index.ts'
import type { WaypostServer } from '../start-server.ts'

/** Older ones hardly fit what else has changed since. */
const most = 3

/**
 * Serves the last release that came up on any server of this System, for one that starts while the active one does not
 * come up.
 * @returns its id; undefined where there is none, or none comes up
 */
export async function fallBack(
  { server, logger }: { readonly server: WaypostServer; readonly logger: Logger },
  failed: string,
): Promise<string | undefined> {
  const { system } = server.host
  const ids = await listCameUp(system, { except: failed, limit: most }).catch(() => [])
  for (const id of ids) {
    const names = { release: shortId(id), active: shortId(failed) }
    try {
      const manifest = await loadManifest(system, id)
      await server.serveRelease({ id, manifest, activatedAt: 0, activatedBy: '' })
      logger.error(names, 'serving the last release that came up, not the active one')
      return id
    } catch (error) {
      logger.error({ ...names, err: error }, 'an earlier release does not come up either')
    }
  }
  logger.error({ active: shortId(failed) }, 'no release comes up: nothing of the project is served')
  return undefined
}
