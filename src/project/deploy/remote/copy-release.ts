import type { FilesResponse, ReleaseResponse } from '../../../backend/index.ts'
import { openBaseBuilder } from '../../../build/index.ts'
import { sha256, type Variables } from '../../../kit/index.ts'
import { parseManifest, releaseId, type Artifact } from '../../../release/index.ts'
import { errors as projectErrors } from '../../errors.ts'
import { countErrors } from '../../load-project.ts'
import type { StartedBuild } from '../start-build.ts'
import { assertResponse, isFiles, isId } from './check-response.ts'
import { makeReleaseClient, type ReleaseClient } from './client.ts'
import { openAccess } from './credentials.ts'
import { errors } from './errors.ts'
import { parseServerUrl, toPublished } from './open-remote-target.ts'
import { forEachConcurrently } from './upload-artifacts.ts'

interface CopyOptions {
  /** The URL of the server with the release. */
  readonly from: string
  readonly variables: Variables
  /** Contains the plugins that are installed on each server. */
  readonly folder: string
}

/**
 * Downloads the active release of a server instead of building one: the manifest, the artifacts and the definition files.
 * @throws WP_PROJECT_REMOTE_URL, WP_PROJECT_REMOTE_CREDENTIALS, WP_PROJECT_REMOTE_CLIENT
 */
export async function startCopy({ from, variables, folder }: CopyOptions): Promise<StartedBuild> {
  const server = parseServerUrl(from)
  const { releasePaths: paths, releaseProtocol: protocol } = await import('../../../backend/index.ts')
  const access = await openAccess(server, variables, 'source')
  const client = makeReleaseClient({ server, access })
  const own = { server, protocol }

  async function download() {
    const { active } = assertResponse(own, await client.get<ReleaseResponse>(paths.active), isRelease)
    if (active === null) throw projectErrors.WP_PROJECT_PULL_NOTHING({ address: server })
    const manifest = parseManifest(active.manifest)
    // An older version stored it in another format, which would get another id.
    if (releaseId(manifest) !== active.id) throw errors.WP_PROJECT_REMOTE_PROTOCOL({ server, own: protocol })
    const published = toPublished(assertResponse(own, await client.get<FilesResponse>(paths.files), isFiles))
    if (published?.id !== active.id) throw errors.WP_PROJECT_REMOTE_CHANGED({ server })
    const load = (hash: string) => loadArtifact(client, { path: `${paths.artifacts}/${hash}`, hash, own })
    const artifacts = new Map<string, Artifact>()
    await forEachConcurrently(
      Object.keys(manifest.artifacts),
      async (hash) => void artifacts.set(hash, await load(hash)),
    )
    const inOrder = Object.keys(manifest.artifacts).map((hash) => artifacts.get(hash)!)
    return { release: { manifest, artifacts: inOrder }, published }
  }

  const downloading = download()
  downloading.catch(() => undefined) // reported by `finish`
  return {
    async finish(report) {
      const { release, published } = await downloading
      const { files, inGit } = published
      const base = { manifest: release.manifest, loadArtifacts: async () => release.artifacts }
      const builder = openBaseBuilder({ base, folder })
      try {
        const texts = new Map(files.map((one) => [one.path, one.content]))
        const { definition, diagnostics } = await builder.load(texts)
        if (definition === undefined) {
          report(diagnostics)
          throw projectErrors.WP_PROJECT_BROKEN({ count: countErrors(diagnostics) })
        }
        const isInGit = JSON.stringify(inGit?.files) === JSON.stringify(files)
        const commit = isInGit ? inGit?.commit : undefined
        return { release, definition, folder, files, commit, kind: isInGit ? 'deploy' : 'backend' }
      } finally {
        builder.close()
      }
    },
    close: () => access.close(),
  }
}

async function loadArtifact(
  client: ReleaseClient,
  {
    path,
    hash,
    own,
  }: { readonly path: string; readonly hash: string; readonly own: Parameters<typeof assertResponse>[0] },
): Promise<Artifact> {
  const isIntact = (one: Artifact) => one.hash === hash && sha256(one.content) === hash
  return assertResponse(own, await client.get<Artifact>(path), isIntact)
}

function isRelease({ active }: ReleaseResponse): boolean {
  return active === null || (isId(active.id) && sha256(active.manifest) === active.id)
}
