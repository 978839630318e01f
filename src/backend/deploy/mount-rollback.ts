import { shortId } from '../../kit/index.ts'
import type { FastifyInstance, onRequestAsyncHookHandler, preHandlerAsyncHookHandler } from 'fastify'
import type { System } from '../../store/index.ts'
import { findActor, logged } from './actor.ts'
import { makeRateLimit } from './limit-requests.ts'
import {
  paths,
  RollbackBody,
  RollbackSurveyBody,
  type RollbackResponse,
  type RollbackSurveyResponse,
} from './protocol.ts'
import type { ReleaseReceiver } from './release-receiver.ts'
import type { ReleaseReader } from './release-reader.ts'

/** The hooks that check the caller of a route. */
export interface RouteAccess {
  readonly onRequest: onRequestAsyncHookHandler
  readonly preHandler: preHandlerAsyncHookHandler
}

export interface RollbackSources {
  readonly system: System
  readonly receiver: ReleaseReceiver
  readonly reader: ReleaseReader
  /** Requires permission to deploy. */
  readonly access: RouteAccess
}

const bodyLimit = 16_384

/**
 * Mounts the endpoints for rollbacks. The survey also requires permission to deploy, because it loads the code of
 * migrations to read their marks.
 */
export function mountRollback(app: FastifyInstance, { system, receiver, reader, access }: RollbackSources): void {
  const options = { ...access, config: makeRateLimit('activate', 60), bodyLimit }
  app.post(paths.rollbackSurvey, options, async (request): Promise<RollbackSurveyResponse> => {
    const { release } = await reader.plain(request, RollbackSurveyBody)
    const { active = null, ...survey } = await receiver.surveyRollback(release)
    return { ...survey, active }
  })
  app.post(paths.rollback, options, async (request): Promise<RollbackResponse> => {
    const body = await reader.plain(request, RollbackBody)
    const actor = await findActor(system, request)
    const activation = await receiver.rollBack(body, actor)
    request.log.info(
      { audit: { ...logged(actor), release: shortId(activation.id), activated: activation.activated } },
      'release rolled back over HTTP',
    )
    return activation
  })
}
