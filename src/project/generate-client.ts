import path from 'node:path'
import { pathToFileURL } from 'node:url'
import {
  hasReferences,
  installation,
  parseSettings,
  resolveReferences,
  variable,
  type Diagnostic,
  type Variables,
} from '../kit/index.ts'
import { makeOpenApi, type OpenApi } from '../runtime/index.ts'
import { findProject } from './find-project.ts'
import { assertDefinition, loadProject } from './load-project.ts'

/** The part that is used of what `npm run build` bundles from the package oazapfts and the TypeScript compiler. */
interface ClientGenerator {
  generateSource(document: object, options: { readonly useUnknown: boolean }): Promise<string>
}

// It would be checked by rules that its reader chose for code of his own.
const head = '// @ts-nocheck\n/* eslint-disable */\n'

/**
 * A client of a project's API as one TypeScript file: a function for each operation, typed by its schemas.
 * @throws what `describeApi` throws
 */
export async function generateClient(options: DescribeOptions): Promise<string> {
  const document = await describeApi(options)
  const file = path.join(installation, 'dist/vendor/client-generator.js')
  const generator = (await import(pathToFileURL(file).href)) as ClientGenerator
  return head + (await generator.generateSource(withoutTuples(document) as object, { useUnknown: true }))
}

/** The generator knows no tuples: they become lists of what may stand in them, not lists of nothing. */
function withoutTuples(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(withoutTuples)
  const { prefixItems, ...rest } = value as { prefixItems?: unknown; items?: unknown }
  const tuple = Array.isArray(prefixItems)
    ? { ...rest, items: { anyOf: [...prefixItems, ...(rest.items === false ? [] : [rest.items ?? {}])] } }
    : value
  return Object.fromEntries(Object.entries(tuple).map(([key, inner]) => [key, withoutTuples(inner)]))
}

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
  const { title } = parseSettings(resolveReferences(definition.config, variables).value).settings
  const options = { serverUrl: readBaseUrl(baseUrl), title: hasReferences(title) ? undefined : title || undefined }
  return makeOpenApi({ ...definition, name: project.name }, options)
}
