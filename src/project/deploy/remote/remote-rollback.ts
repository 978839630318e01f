import type {
  releasePaths,
  RollbackAnswer,
  RollbackRequest,
  RollbackSurveyAnswer,
  RollbackSurveyRequest,
} from '../../../backend/index.ts'
import type { DeployTarget } from '../target.ts'
import { assertAnswer, isId, isRollbackSurvey, printable } from './check-answer.ts'
import { activateTimeoutMs, type ReleaseClient } from './client.ts'

interface RemoteServer {
  readonly client: ReleaseClient
  readonly own: { readonly server: string; readonly protocol: number }
  readonly paths: typeof releasePaths
}

/** Rollback on a running server. The server checks each time whether the rollback is possible. */
export function remoteRollback({
  client,
  own,
  paths,
}: RemoteServer): Pick<DeployTarget, 'surveyRollback' | 'rollBack'> {
  const { protocol } = own
  return {
    async surveyRollback(beginning) {
      const request: RollbackSurveyRequest = { protocol, ...(beginning === undefined ? {} : { release: beginning }) }
      const answer = await client.post<RollbackSurveyAnswer>(paths.rollbackSurvey, request)
      const survey = assertAnswer(own, answer, isRollbackSurvey)
      return { ...survey, active: survey.active ?? undefined }
    },
    async rollBack(id, { message, against, keepDraft, allowBreaking }) {
      const request: RollbackRequest = {
        protocol,
        release: id,
        ...(message === undefined ? {} : { message: printable(message, 500) }),
        ...(against === undefined ? {} : { against }),
        ...(keepDraft ? { keepDraft } : {}),
        ...(allowBreaking === true ? { allow_breaking: true } : {}),
      }
      const answer = await client.post<RollbackAnswer>(paths.rollback, request, { timeoutMs: activateTimeoutMs })
      return assertAnswer(own, answer, (activation: RollbackAnswer) => isId(activation.id))
    },
  }
}
