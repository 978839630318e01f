import type { FastifyInstance, FastifyPluginAsync, FastifyRequest } from 'fastify'
import type { Guard } from '../../auth/index.ts'
import { version, shortId } from '../../kit/index.ts'
import { listLiveServers } from '../../release/index.ts'
import { errors } from '../errors.ts'
import { findActor } from './actor.ts'
import { assertProtocol } from './assert-protocol.ts'
import { limitBodies, rateOf } from './limit-requests.ts'
import { releaseLimits } from './limits.ts'
import { mountRollback } from './mount-rollback.ts'
import {
  ActivateBody,
  ArtifactsBody,
  paths,
  protocol,
  SurveyBody,
  type AccessAnswer,
  type ActivateAnswer,
  type ActivateRequest,
  type ArtifactsAnswer,
  type ArtifactsRequest,
  type MigrateAnswer,
  type MigrateRequest,
  type ServersAnswer,
  type SurveyAnswer,
  type SurveyRequest,
} from './protocol.ts'
import { readBodies } from './read-bodies.ts'
import { openReleaseDesk, type DeskSources, type ReleaseDesk } from './release-desk.ts'

export interface ReleaseSources extends DeskSources {
  readonly guard: Guard
  /** Why nobody deploys to this server over HTTP, if so. */
  readonly closed: 'off' | 'development' | undefined
}

const toRead = ['backend.read', 'backend.deploy']
const toDeploy = ['backend.deploy']
const bodiesAtOnce = 4

/**
 * `/backend/release`: the receiving side of `deploy --url`. The token stands in the header, so that no page of another
 * site sends one along.
 */
export function mountReleases(sources: ReleaseSources): FastifyPluginAsync {
  const desk = openReleaseDesk(sources)
  return async (app) => {
    readBodies(app)
    limitBodies(app, bodiesAtOnce)
    app.addHook('onSend', async (_request, reply) => {
      reply.header('cache-control', 'no-store')
    })
    mountLooking(app, sources, desk)
    mountDeploying(app, sources, desk)
    mountRollback(app, { system: sources.system, desk, onRequest: admit(sources, toDeploy) })
  }
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
function mountLooking(app: FastifyInstance, sources: ReleaseSources, desk: ReleaseDesk): void {
  const onRequest = admit(sources, toRead)
  app.get(paths.servers, { onRequest, config: rateOf('look', 1200) }, async (): Promise<ServersAnswer> => ({
    servers: await listLiveServers(sources.system),
  }))
  const survey = { bodyLimit: releaseLimits.manifestBytes, schema: { body: SurveyBody } }
  app.post<{ Body: SurveyRequest }>(
    paths.survey,
    { onRequest, config: rateOf('survey', 60), ...survey },
    async ({ body, principal }): Promise<SurveyAnswer> => {
      assertProtocol(body)
      return desk.survey(body.manifest, { mayOpen: principal!.scopes.includes('backend.deploy') })
    },
  )
}

function mountDeploying(app: FastifyInstance, sources: ReleaseSources, desk: ReleaseDesk): void {
  const onRequest = admit(sources, toDeploy)
  app.get(paths.access, { onRequest, config: rateOf('look', 1200) }, async (): Promise<AccessAnswer> => {
    return { waypost: version, protocol }
  })
  const upload = { bodyLimit: releaseLimits.uploadBytes, schema: { body: ArtifactsBody } }
  app.post<{ Body: ArtifactsRequest }>(
    paths.artifacts,
    { onRequest, config: rateOf('artifact', 1200), ...upload },
    async ({ body }): Promise<ArtifactsAnswer> => {
      assertProtocol(body)
      await desk.keep(body.artifacts)
      return { stored: body.artifacts.length }
    },
  )
  const migrate = { bodyLimit: releaseLimits.manifestBytes, schema: { body: SurveyBody } }
  app.post<{ Body: MigrateRequest }>(
    paths.migrations,
    { onRequest, config: rateOf('activate', 60), ...migrate },
    async (request): Promise<MigrateAnswer> => {
      assertProtocol(request.body)
      const actor = await findActor(sources.system, request)
      const applied = await desk.migrate(request.body.manifest)
      const names = applied.map(({ connection, name }) => `${connection}/${name}`)
      request.log.info({ audit: { ...actor, migrations: names } }, 'migrations applied over HTTP')
      return { applied }
    },
  )
  const activate = { bodyLimit: releaseLimits.manifestBytes, schema: { body: ActivateBody } }
  app.post<{ Body: ActivateRequest }>(
    paths.releases,
    { onRequest, config: rateOf('activate', 60), ...activate },
    async (request): Promise<ActivateAnswer> => {
      assertProtocol(request.body)
      const actor = await findActor(sources.system, request)
      const { id, activated } = await desk.activate(request.body, actor)
      request.log.info({ audit: { ...actor, release: shortId(id), activated } }, 'release deployed over HTTP')
      return { id, activated }
    },
  )
}
