import { shortId } from '../../kit/index.ts'
import type { FastifyInstance, onRequestAsyncHookHandler } from 'fastify'
import type { System } from '../../store/index.ts'
import { findActor } from './actor.ts'
import { assertProtocol } from './assert-protocol.ts'
import { rateOf } from './limit-requests.ts'
import {
  paths,
  RollbackBody,
  RollbackSurveyBody,
  type ActivateAnswer,
  type RollbackRequest,
  type RollbackSurveyAnswer,
  type RollbackSurveyRequest,
} from './protocol.ts'
import type { ReleaseDesk } from './release-desk.ts'

export interface RollbackSources {
  readonly system: System
  readonly desk: ReleaseDesk
  /** Lets in whoever may deploy. */
  readonly onRequest: onRequestAsyncHookHandler
}

const bodyLimit = 16_384

/** Going back. A look too is for who may deploy: it loads the migrations that ran since, to see how they are marked. */
export function mountRollback(app: FastifyInstance, { system, desk, onRequest }: RollbackSources): void {
  app.post<{ Body: RollbackSurveyRequest }>(
    paths.rollbackSurvey,
    { onRequest, config: rateOf('activate', 60), bodyLimit, schema: { body: RollbackSurveyBody } },
    async ({ body }): Promise<RollbackSurveyAnswer> => {
      assertProtocol(body)
      const { active, ...survey } = await desk.surveyRollback(body.release)
      return { ...survey, active: active ?? null }
    },
  )
  app.post<{ Body: RollbackRequest }>(
    paths.rollback,
    { onRequest, config: rateOf('activate', 60), bodyLimit, schema: { body: RollbackBody } },
    async (request): Promise<ActivateAnswer> => {
      assertProtocol(request.body)
      const actor = await findActor(system, request)
      const { id, activated } = await desk.rollBack(request.body, actor)
      request.log.info({ audit: { ...actor, release: shortId(id), activated } }, 'release rolled back over HTTP')
      return { id, activated }
    },
  )
}
