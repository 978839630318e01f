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
import { formatClient } from './generate/format-client.ts'
import { prepareDocument } from './generate/prepare-document.ts'
import { readMarks } from './generate/read-marks.ts'
import { assertDefinition, loadProject } from './load-project.ts'

/** The used part of the package oazapfts and the TypeScript compiler, bundled by `npm run build`. */
interface ClientGenerator {
  generateSource(document: object, options: { readonly useUnknown: boolean }): Promise<string>
}

// Excludes the file from the reader's own checks.
const head = '// @ts-nocheck\n/* eslint-disable */\n'

/**
 * Generates a client of a project's API as a TypeScript file, with a typed function for each operation.
 * @throws the errors of `describeApi`
 */
export async function generateClient(options: DescribeOptions): Promise<string> {
  const document = await describeApi(options)
  const file = path.join(installation, 'dist/vendor/client-generator.js')
  const generator = (await import(pathToFileURL(file).href)) as ClientGenerator
  const source = await generator.generateSource(prepareDocument(document), { useUnknown: true })
  return head + refuseDots(keepSlashes(readMarks(formatClient(source)), document))
}

/** Makes a client send the rest of a path as several segments. */
function keepSlashes(client: string, { paths }: OpenApi): string {
  const rests = Object.entries(paths).filter(([, item]) => Object.values(item).some(hasRest))
  const name = ['encodeRest', 'encodeSegments', 'encodeRestOfPath'].find((one) => !client.includes(one))
  if (rests.length === 0 || name === undefined) return client
  const call = String.raw`\$\{encodeURIComponent\(\w+\)\}`
  const changed = rests.reduce((text, [path]) => {
    const parts = path.replace(/\{\w+\}$/, '').split(/\{\w+\}/)
    const before = parts.map((part) => part.replaceAll(/[^\w/]/g, String.raw`\$&`)).join(call)
    const pattern = new RegExp(`(?<=\`${before}\\$\\{)encodeURIComponent(?=\\(\\w+\\)\\}(?:\`|\\$\\{QS))`, 'g')
    return text.replaceAll(pattern, name)
  }, client)
  return `${changed.trimEnd()}

function ${name}(value: string): string {
  const segments = value.split('/')
  if (segments.some((one) => one === '' || one === '.' || one === '..'))
    throw new TypeError(\`"\${value}" cannot be the rest of a path\`)
  return segments.map(encodeURIComponent).join('/')
}
`
}

function hasRest(operation: object): boolean {
  const { parameters } = operation as { readonly parameters?: readonly Readonly<Record<string, unknown>>[] }
  return parameters?.some((one) => one['x-rest'] === true) === true
}

/** Makes a client refuse path parameters that lead to another operation, because `fetch` shortens paths with "..". */
function refuseDots(client: string): string {
  const name = ['pathSegment', 'refuseDots', 'encodeSegment'].find((one) => !client.includes(one))
  if (name === undefined) return client
  const call = /(?<=\/\$\{)encodeURIComponent(?=\(\w+\)\}(?:[/`]|\$\{QS\.))/g
  const changed = client.replaceAll(call, name)
  if (changed === client) return client
  return `${changed.trimEnd()}

function ${name}(value: string | number | boolean): string {
  if (value === '.' || value === '..') throw new TypeError(\`"\${value}" cannot be a path parameter\`)
  return encodeURIComponent(value)
}
`
}

export interface DescribeOptions {
  readonly folder: string
  /** `WAYPOST_BASE_URL` is the public URL of the API. */
  readonly variables: Variables
  onDiagnostics(diagnostics: readonly Diagnostic[]): void
}

/**
 * Returns the API of a project as OpenAPI 3.1, like `/openapi.json` of a server. Runs no project code.
 * @throws WP_PROJECT_BROKEN after reporting the diagnostics; WP_SERVER_BASE_URL
 */
export async function describeApi({ folder, variables, onDiagnostics }: DescribeOptions): Promise<OpenApi> {
  const project = findProject(folder)
  const definition = assertDefinition(await loadProject(project), onDiagnostics)
  const baseUrl = variable(variables, 'WAYPOST_BASE_URL')
  const { readBaseUrl } = await import('../host/index.ts')
  const { title, description } = parseSettings(resolveReferences(definition.config, variables).value).settings
  const known = (text: string) => (hasReferences(text) ? undefined : text || undefined)
  const options = { serverUrl: readBaseUrl(baseUrl), title: known(title), description: known(description) }
  return makeOpenApi(definition, options)
}
