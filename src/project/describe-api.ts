import { variable, type Diagnostic, type Variables } from '../kit/index.ts'
import { makeOpenApi, type OpenApi } from '../runtime/index.ts'
import { findProject } from './find-project.ts'
import { assertDefinition, loadProject } from './load-project.ts'

export interface DescribeOptions {
  readonly folder: string
  /** `WAYPOST_BASE_URL` among them says where callers reach the API. */
  readonly variables: Variables
  onDiagnostics(diagnostics: readonly Diagnostic[]): void
}

/**
 * The API of a project as OpenAPI 3.1, the same that a server describes at `/openapi.json`. No code of the project runs.
 * @throws WP_PROJECT_BROKEN after the diagnostics were reported; WP_SERVER_BASE_URL
 */
export async function describeApi({ folder, variables, onDiagnostics }: DescribeOptions): Promise<OpenApi> {
  const project = findProject(folder)
  const definition = assertDefinition(await loadProject(project), onDiagnostics)
  const baseUrl = variable(variables, 'WAYPOST_BASE_URL')
  const { readBaseUrl } = await import('../host/index.ts')
  return makeOpenApi({ ...definition, name: project.name }, { serverUrl: readBaseUrl(baseUrl) })
}
