import { setImmediate as nextTurn } from 'node:timers/promises'
import { fillPath, sha256 } from '../../kit/index.ts'
import { sortApi, type Api } from './api.ts'
import { makeComponents } from './components.ts'
import { makeExamples, type OperationSources } from './make-media.ts'
import { makeOperation, tagsOf } from './operation.ts'
import { makeOperationIds } from './operation-ids.ts'
import { makeSecuritySchemes } from './security-schemes.ts'
import { makeSharedParts } from './shared-parts.ts'

export interface OpenApiOptions {
  /** The title of the API; by default the host of `serverUrl`, or `API`. */
  readonly title?: string | undefined
  /** What the API is. The document adds how to get a token. */
  readonly description?: string | undefined
  /** The version of the API; by default a hash of the document, which changes only with the API. */
  readonly version?: string
  /** The URL of the API without a trailing slash; by default the origin from which the document was loaded. */
  readonly serverUrl?: string | undefined
}

/** An OpenAPI 3.1 document. */
export interface OpenApi {
  readonly openapi: string
  readonly info: { readonly title: string; readonly version: string; readonly [key: string]: unknown }
  readonly paths: Readonly<Record<string, Readonly<Record<string, object>>>>
  readonly [key: string]: unknown
}

const authorizationHelp =
  'Send an access token with operations that require one, in the header `Authorization: Bearer TOKEN`:\n\n' +
  '- Users get a token from `POST /consumer/login` with `{"username", "password"}`.\n' +
  '- Clients get a token from `POST /authorization/token` with `grant_type=client_credentials`, their id and their secret.\n' +
  '- Applications that act for a user use the authorization code flow with PKCE, which begins at `/authorization/authorize`.'

/** Describes the routes of an API as OpenAPI 3.1: schemas as components, scopes, and possible errors. */
export function makeOpenApi(described: Api, options: OpenApiOptions = {}): OpenApi {
  const steps = makeInSteps(described, options)
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}

const routesPerTurn = 20

/** Like `makeOpenApi`, but lets other requests be answered in between. Returns the text of the document. */
export async function writeOpenApi(described: Api, options: OpenApiOptions = {}): Promise<string> {
  const steps = makeInSteps(described, options)
  for (let count = 1; ; count++) {
    const { done, value } = steps.next()
    if (done === true || count % routesPerTurn === 0) await nextTurn()
    if (done === true) return JSON.stringify(value)
  }
}

/** Makes the document. Each step describes one route. */
function* makeInSteps(described: Api, options: OpenApiOptions): Generator<undefined, OpenApi, undefined> {
  const api = sortApi(described)
  const { paths, components } = yield* makePaths(api)
  const { serverUrl, title = serverUrl === undefined ? 'API' : new URL(serverUrl).host } = options
  const isPrivate = api.routes.some((route) => route.methods.some((method) => !method.public))
  const document = {
    servers: [{ url: serverUrl ?? '/' }],
    tags: makeTags(api),
    paths,
    components: {
      ...components,
      ...(isPrivate ? { securitySchemes: makeSecuritySchemes(api, serverUrl) } : {}),
    },
  }
  const { version = sha256(JSON.stringify({ paths, components })).slice(0, 12) } = options
  // The project states no licence; this is the SPDX identifier for that.
  const license = { name: 'Not stated', identifier: 'NOASSERTION' }
  const contact = { name: title, ...(serverUrl === undefined ? {} : { url: serverUrl }) }
  const access = isPrivate ? authorizationHelp : 'No operation needs an access token.'
  const description = options.description === undefined ? access : `${options.description}\n\n${access}`
  return { openapi: '3.1.0', info: { title, version, description, contact, license }, ...document }
}

function* makePaths(api: Api) {
  const components = makeComponents(api.schemas)
  const problemSchemaName = Object.hasOwn(api.schemas, 'Problem') ? 'WaypostProblem' : 'Problem'
  const shared = makeSharedParts(components, problemSchemaName)
  const operationIds = makeOperationIds(api)
  const sources: OperationSources = { api, components, shared, operationIds, ...makeExamples(api) }
  const entries: [string, Readonly<Record<string, object>>][] = []
  for (const route of api.routes) {
    const operations = route.methods.map(
      (method) => [method.method.toLowerCase(), makeOperation({ route, method }, sources)] as const,
    )
    entries.push([fillPath(route.path, (name) => `{${name}}`), Object.fromEntries(operations)])
    yield
  }
  const paths = Object.fromEntries(entries)
  const { responses, ...used } = shared.write()
  const schemas = [...components.schemas].toSorted(([a], [b]) => (a < b ? -1 : 1))
  const others = Object.entries(used).filter(([, parts]) => Object.keys(parts).length > 0)
  return { paths, components: { schemas: Object.fromEntries(schemas), responses, ...Object.fromEntries(others) } }
}

function makeTags({ routes, groups = {} }: Api): object[] {
  const all = routes.flatMap(({ path, methods }) => methods.map((method) => ({ path, method })))
  const declared = new Set(all.flatMap(({ method }) => method.tags ?? []))
  const names = new Set(all.flatMap(({ path, method }) => tagsOf(path, method)))
  return [...names].toSorted().map((name) => {
    if (declared.has(name)) return { name, description: groups[name]?.description ?? `Operations of \`${name}\`` }
    return { name, description: name === '/' ? 'Operations at the top level' : `Operations on \`/${name}\`` }
  })
}
