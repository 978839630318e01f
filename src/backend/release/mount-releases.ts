import type { FastifyInstance, FastifyPluginAsync, FastifyRequest } from 'fastify'
import type { Guard } from '../../auth/index.ts'
import type { ClassCatalog } from '../../definition/index.ts'
import { shortId, version } from '../../kit/index.ts'
import { assertIntact, listLiveServers, loadActiveRow, type ActiveRow } from '../../release/index.ts'
import { errors } from '../errors.ts'
import { findActor } from './actor.ts'
import { limitBodies, rateOf } from './limit-requests.ts'
import { releaseLimits } from './limits.ts'
import { mountRollback } from './mount-rollback.ts'
import {
  ActivateBody,
  paths,
  protocol,
  SurveyBody,
  type AccessAnswer,
  type ActivateAnswer,
  type ArtifactsAnswer,
  type MigrateAnswer,
  type ServersAnswer,
  type SurveyAnswer,
} from './protocol.ts'
import { takeBodies } from './read-bodies.ts'
import { openReleaseDesk, type DeskSources, type ReleaseDesk, type Surveyed } from './release-desk.ts'
import { openReleaseReader, type ReleaseReader, type SentArtifacts } from './release-reader.ts'

export interface ReleaseSources extends DeskSources {
  readonly guard: Guard
  /** The classes that this server's plugins bring. */
  readonly classes: ClassCatalog
  /** Why nobody deploys to this server over HTTP, if so. */
  readonly closed: 'off' | 'development' | undefined
}

const toRead = ['backend.read', 'backend.deploy']
const toDeploy = ['backend.deploy']
const bodiesAtOnce = { ofClient: 4, most: 12 }

/**
 * `/backend/release`: the receiving side of `deploy --url`. The token stands in the header, so that no page of another
 * site sends one along.
 */
export function mountReleases(sources: ReleaseSources): FastifyPluginAsync {
  const side = { ...sources, desk: openReleaseDesk(sources), reader: openReleaseReader(sources.classes) }
  return async (app) => {
    takeBodies(app)
    limitBodies(app, bodiesAtOnce)
    app.addHook('onSend', async (_request, reply) => {
      reply.header('cache-control', 'no-store')
    })
    mountLooking(app, side)
    mountDeploying(app, side)
    mountRollback(app, { ...side, onRequest: admit(sources, toDeploy) })
  }
}

interface Side extends ReleaseSources {
  readonly desk: ReleaseDesk
  readonly reader: ReleaseReader
}

/** Lets in whoever has a token with one of the scopes, unless the server takes no deployments. */
function admit({ guard, closed }: ReleaseSources, needed: readonly string[]) {
  return async (request: FastifyRequest) => {
    request.principal = await guard.authorize(request.headers.authorization, needed)
    if (closed === 'off') throw errors.WP_BACKEND_DEPLOY_OFF()
    if (closed === 'development') throw errors.WP_BACKEND_DEVELOPMENT()
  }
}

/** What a plan needs. */
function mountLooking(app: FastifyInstance, { desk, reader, ...sources }: Side): void {
  const { system } = sources
  const onRequest = admit(sources, toRead)
  app.get(paths.servers, { onRequest, config: rateOf('look', 1200) }, async (): Promise<ServersAnswer> => ({
    servers: await listLiveServers(system),
  }))
  const bodyLimit = releaseLimits.manifestBytes
  app.post(paths.survey, { onRequest, config: rateOf('survey', 60), bodyLimit }, async (request, reply) => {
    const active = await loadActiveRow(system)
    const { manifest } = await reader.manifest(request, SurveyBody, textOf(active))
    const mayOpen = request.principal!.scopes.includes('backend.deploy')
    reply.type('application/json; charset=utf-8')
    return writeSurvey(await desk.survey(manifest, { active, mayOpen }))
  })
}

/** Of a manifest that is damaged there is none. */
function textOf(active: ActiveRow | undefined): string | undefined {
  try {
    return active && assertIntact(active)
  } catch {
    return undefined
  }
}

/** A `SurveyAnswer` as text: the manifest of the active release may be large, and is text already. */
function writeSurvey({ active, ...survey }: Surveyed): string {
  if (active === undefined) return JSON.stringify({ ...survey, active: null } satisfies SurveyAnswer)
  const { manifest, ...rest } = active
  const head = JSON.stringify({ ...survey, active: rest })
  return `${head.slice(0, -2)},"manifest":${manifest}}}`
}

function mountDeploying(app: FastifyInstance, { desk, reader, ...sources }: Side): void {
  const onRequest = admit(sources, toDeploy)
  app.get(paths.access, { onRequest, config: rateOf('look', 1200) }, async (): Promise<AccessAnswer> => {
    return { waypost: version, protocol }
  })
  const upload = { onRequest, config: rateOf('artifact', 1200), bodyLimit: releaseLimits.uploadBytes }
  app.post(paths.artifacts, upload, async (request): Promise<ArtifactsAnswer> => {
    const keep = async (sent: SentArtifacts) => {
      await desk.keep(sent)
      return { stored: sent.count }
    }
    return reader.artifacts(request, keep)
  })
  const activating = { onRequest, config: rateOf('activate', 60), bodyLimit: releaseLimits.manifestBytes }
  app.post(paths.migrations, activating, async (request): Promise<MigrateAnswer> => {
    const { manifest } = await reader.manifest(request, SurveyBody)
    const actor = await findActor(sources.system, request)
    const applied = await desk.migrate(manifest)
    const names = applied.map(({ connection, name }) => `${connection}/${name}`)
    request.log.info({ audit: { ...actor, migrations: names } }, 'migrations applied over HTTP')
    return { applied }
  })
  app.post(paths.releases, activating, async (request): Promise<ActivateAnswer> => {
    const { body, manifest } = await reader.manifest(request, ActivateBody)
    const actor = await findActor(sources.system, request)
    const { id, activated } = await desk.activate(manifest, body, actor)
    request.log.info({ audit: { ...actor, release: shortId(id), activated } }, 'release deployed over HTTP')
    return { id, activated }
  })
}
