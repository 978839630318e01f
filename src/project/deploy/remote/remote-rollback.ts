import type {
  releasePaths,
  RollbackResponse,
  RollbackRequest,
  RollbackSurveyResponse,
  RollbackSurveyRequest,
} from '../../../backend/index.ts'
import type { DeployTarget } from '../target.ts'
import { assertResponse, isId, isRollbackSurvey, printable } from './check-response.ts'
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
      const response = await client.post<RollbackSurveyResponse>(paths.rollbackSurvey, request)
      const survey = assertResponse(own, response, isRollbackSurvey)
      return { ...survey, active: survey.active ?? undefined }
    },
    async rollBack(id, { message, against, keepDraft, allowBreaking, allowMissing }) {
      const request: RollbackRequest = {
        protocol,
        release: id,
        ...(message === undefined ? {} : { message: printable(message, 500) }),
        ...(against === undefined ? {} : { against }),
        ...(keepDraft ? { keep_draft: true } : {}),
        ...(allowBreaking === true ? { allow_breaking: true } : {}),
        ...(allowMissing === true ? { allow_missing: true } : {}),
      }
      const response = await client.post<RollbackResponse>(paths.rollback, request, { timeoutMs: activateTimeoutMs })
      return assertResponse(own, response, (activation: RollbackResponse) => isId(activation.id))
    },
  }
}
