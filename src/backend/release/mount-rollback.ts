import { shortId } from '../../kit/index.ts'
import type { FastifyInstance, onRequestAsyncHookHandler } from 'fastify'
import type { System } from '../../store/index.ts'
import { findActor } from './actor.ts'
import { rateOf } from './limit-requests.ts'
import { paths, RollbackBody, RollbackSurveyBody, type ActivateAnswer, type RollbackSurveyAnswer } from './protocol.ts'
import type { ReleaseDesk } from './release-desk.ts'
import type { ReleaseReader } from './release-reader.ts'

export interface RollbackSources {
  readonly system: System
  readonly desk: ReleaseDesk
  readonly reader: ReleaseReader
  /** Lets in whoever may deploy. */
  readonly onRequest: onRequestAsyncHookHandler
}

const bodyLimit = 16_384

/** Going back. A look too is for who may deploy: it loads the migrations that ran since, to see how they are marked. */
export function mountRollback(app: FastifyInstance, { system, desk, reader, onRequest }: RollbackSources): void {
  const options = { onRequest, config: rateOf('activate', 60), bodyLimit }
  app.post(paths.rollbackSurvey, options, async (request): Promise<RollbackSurveyAnswer> => {
    const { release } = await reader.plain(request, RollbackSurveyBody)
    const { active, ...survey } = await desk.surveyRollback(release)
    return { ...survey, active: active ?? null }
  })
  app.post(paths.rollback, options, async (request): Promise<ActivateAnswer> => {
    const body = await reader.plain(request, RollbackBody)
    const actor = await findActor(system, request)
    const { id, activated } = await desk.rollBack(body, actor)
    request.log.info({ audit: { ...actor, release: shortId(id), activated } }, 'release rolled back over HTTP')
    return { id, activated }
  })
}
