import type { FastifyInstance, FastifyPluginAsync, FastifyRequest } from 'fastify'
import type { Guard } from '../../auth/index.ts'
import type { ClassCatalog } from '../../definition/index.ts'
import { sha256, shortId, version } from '../../kit/index.ts'
import {
  assertIntact,
  hashFiles,
  listFileVersions,
  listLiveServers,
  loadForRelease,
  loadActiveId,
  loadActiveRow,
  loadPublishedFiles,
  type PublishedFiles,
} from '../../release/index.ts'
import { errors } from '../errors.ts'
import { findActor, logged } from './actor.ts'
import { limitBodies, makeRateLimit } from './limit-requests.ts'
import { releaseLimits } from './limits.ts'
import { mountRollback, type RouteAccess } from './mount-rollback.ts'
import {
  ActivateBody,
  ArtifactParams,
  assertProtocol,
  oldPaths,
  paths,
  protocol,
  SurveyBody,
  type AccessResponse,
  type ActivateResponse,
  type ArtifactsResponse,
  type ReleaseResponse,
  type FilesResponse,
  type MigrateResponse,
  type ServersResponse,
  type SurveyResponse,
  type VersionsResponse,
} from './protocol.ts'
import { acceptBodies } from './read-bodies.ts'
import { openReleaseReceiver, type ReceiverSources, type ReleaseReceiver } from './release-receiver.ts'
import { openReleaseReader, type ReleaseReader, type SentArtifacts } from './release-reader.ts'

export interface ReleaseSources extends ReceiverSources {
  readonly guard: Guard
  /** The classes of this server's plugins. */
  readonly classes: ClassCatalog
  /** Loads the files of the draft; undefined if there is neither a draft nor a release. @throws WP_BACKEND_DRAFT_CONFLICTS */
  loadDraftFiles(): Promise<PublishedFiles | undefined>
  /** Why this server does not accept deployments over HTTP; undefined if it does. */
  readonly closed: 'off' | 'development' | undefined
}

const readScopes = ['backend.read', 'backend.deploy']
const deployScopes = ['backend.deploy']
const bodyLimits = { perClient: 4, total: 12 }

/**
 * Mounts `/backend/deploy`, the receiving side of `deploy --url`. The token is sent in a header, so that pages of
 * other sites cannot send it.
 */
export function mountReleases(sources: ReleaseSources): FastifyPluginAsync {
  const endpointSources = {
    ...sources,
    receiver: openReleaseReceiver(sources),
    reader: openReleaseReader(sources.classes),
  }
  return async (app) => {
    acceptBodies(app)
    limitBodies(app, bodyLimits)
    app.addHook('onSend', async (_request, reply) => {
      reply.header('cache-control', 'no-store')
    })
    mountReading(app, endpointSources)
    mountDeploying(app, endpointSources)
    mountRollback(app, { ...endpointSources, access: requireScopes(sources, deployScopes) })
  }
}

interface EndpointSources extends ReleaseSources {
  readonly receiver: ReleaseReceiver
  readonly reader: ReleaseReader
}

/** Requires a token with one of the scopes, and rejects all requests if the server accepts no deployments. */
function requireScopes({ guard, closed }: ReleaseSources, needed: readonly string[]): RouteAccess {
  const authorize = async (request: FastifyRequest) => {
    request.principal = await guard.authorize(request.headers.authorization, needed)
    if (closed === 'off') throw errors.WP_BACKEND_DEPLOY_OFF()
    if (closed === 'development') throw errors.WP_BACKEND_DEVELOPMENT()
  }
  // A caller can send the body a minute later. Meanwhile, the token may have been revoked.
  const recheck = async (request: FastifyRequest) => {
    if (request.body !== undefined) await authorize(request)
  }
  return { onRequest: authorize, preHandler: recheck }
}

/** Mounts the endpoints for plans. */
function mountReading(app: FastifyInstance, { receiver, reader, ...sources }: EndpointSources): void {
  const { system } = sources
  const access = requireScopes(sources, readScopes)
  app.get(paths.servers, { ...access, config: makeRateLimit('look', 1200) }, async (): Promise<ServersResponse> => ({
    active: (await loadActiveId(system)) ?? null,
    servers: await listLiveServers(system),
  }))
  app.get(paths.files, { ...access, config: makeRateLimit('files', 60) }, async () =>
    toFilesResponse(await loadPublishedFiles(system)),
  )
  app.get(paths.versions, { ...access, config: makeRateLimit('files', 60) }, async (): Promise<VersionsResponse> => ({
    versions: await listFileVersions(system),
  }))
  app.get(paths.draft, { ...access, config: makeRateLimit('files', 60) }, async () =>
    toFilesResponse(await sources.loadDraftFiles()),
  )
  for (const path of oldPaths)
    app.get(path, { ...access, config: makeRateLimit('look', 1200) }, async () => assertProtocol({ protocol: 1 }))
  const bodyLimit = releaseLimits.manifestBytes
  app.post(
    paths.survey,
    { ...access, config: makeRateLimit('survey', 60), bodyLimit },
    async (request): Promise<SurveyResponse> => {
      const row = await loadActiveRow(system)
      const { manifest, files } = await reader.manifest(request, SurveyBody, row)
      const mayOpen = request.principal!.scopes.includes('backend.deploy')
      const { active = null, ...survey } = await receiver.survey(manifest, { active: row, mayOpen, files })
      return { ...survey, active }
    },
  )
}

function toFilesResponse(published: PublishedFiles | undefined): FilesResponse {
  if (published === undefined) return { active: null, inGit: null, contents: {} }
  const { id, files, inGit } = published
  const all = [...files, ...(inGit?.files ?? [])]
  return {
    active: { id: id ?? null, files: hashFiles(files) },
    inGit: inGit === undefined ? null : { commit: inGit.commit ?? null, files: hashFiles(inGit.files) },
    contents: Object.fromEntries(all.map(({ content }) => [sha256(content), content])),
  }
}

function mountDeploying(app: FastifyInstance, { receiver, reader, ...sources }: EndpointSources): void {
  const access = requireScopes(sources, deployScopes)
  app.get(paths.access, { ...access, config: makeRateLimit('look', 1200) }, async (): Promise<AccessResponse> => {
    return { waypost: version, protocol }
  })
  app.get(paths.active, { ...access, config: makeRateLimit('release', 60) }, async (): Promise<ReleaseResponse> => {
    const active = await loadActiveRow(sources.system)
    return { active: active === undefined ? null : { id: active.id, manifest: assertIntact(active) } }
  })
  const reading = { ...access, config: makeRateLimit('artifact', 1200), schema: { params: ArtifactParams } }
  app.get<{ Params: { hash: string } }>(`${paths.artifacts}/:hash`, reading, async ({ params: { hash } }) => {
    const { artifacts } = await loadForRelease(sources.system, { [hash]: 0 })
    if (artifacts.length === 0) throw errors.WP_BACKEND_ARTIFACTS_MISSING({ count: 1, first: shortId(hash) })
    return artifacts[0]!
  })
  const upload = { ...access, config: makeRateLimit('artifact', 1200), bodyLimit: releaseLimits.uploadBytes }
  app.post(paths.artifacts, upload, async (request): Promise<ArtifactsResponse> => {
    const storeArtifacts = async (sent: SentArtifacts) => {
      await receiver.store(sent)
      return { stored: sent.count }
    }
    return reader.artifacts(request, storeArtifacts)
  })
  const activating = { ...access, config: makeRateLimit('activate', 60), bodyLimit: releaseLimits.manifestBytes }
  app.post(paths.migrations, activating, async (request): Promise<MigrateResponse> => {
    const active = await loadActiveRow(sources.system)
    const { manifest } = await reader.manifest(request, SurveyBody, active)
    const actor = await findActor(sources.system, request)
    const applied = await receiver.migrate(manifest, active)
    const names = applied.map(({ connection, name }) => `${connection}/${name}`)
    request.log.info({ audit: { ...logged(actor), migrations: names } }, 'migrations applied over HTTP')
    return { applied }
  })
  app.post(paths.releases, activating, async (request): Promise<ActivateResponse> => {
    const active = await loadActiveRow(sources.system)
    const { body, manifest, files } = await reader.manifest(request, ActivateBody, active)
    const actor = await findActor(sources.system, request)
    const listOverwritten = reader.listOverwritten(request)
    const activation = await receiver.activate(manifest, { ...body, files, active, listOverwritten }, actor)
    request.log.info(
      { audit: { ...logged(actor), release: shortId(activation.id), activated: activation.activated } },
      'release deployed over HTTP',
    )
    return activation
  })
}
