import { encodePathValue, fillPath, listPathParameters } from '../kit/index.ts'
import type { JsonSchema } from '../contract/index.ts'
import type { Manifest, ManifestMethod } from '../release/index.ts'
import { generateSample } from '../schema/index.ts'

/** A request to try a project. */
export interface SuggestedRequest {
  readonly method: string
  /** With required query parameters. */
  readonly path: string
  readonly needsToken: boolean
  /** JSON. */
  readonly body: string | undefined
}

interface Candidate {
  readonly path: string
  readonly method: ManifestMethod
}

/** Returns a GET and a POST request of the project that work without changes. Prefers public routes and short paths. */
export function suggestRequests(manifest: Pick<Manifest, 'routes' | 'schemas'>): readonly SuggestedRequest[] {
  const all = manifest.routes.flatMap(({ path, methods }) => methods.map((method) => ({ path, method })))
  const get = firstThatWorks('GET', all, manifest)
  const suggestion =
    get === undefined ? all : all.toSorted((a, b) => Number(b.path === get.path) - Number(a.path === get.path))
  return [get?.request, firstThatWorks('POST', suggestion, manifest)?.request].filter((one) => one !== undefined)
}

function firstThatWorks(
  wanted: string,
  candidates: readonly Candidate[],
  { schemas }: Pick<Manifest, 'schemas'>,
): { path: string; request: SuggestedRequest } | undefined {
  const ranked = candidates.filter(({ method }) => method.method === wanted).toSorted((a, b) => costOf(a) - costOf(b))
  for (const { path, method } of ranked) {
    const filled = writePath(path, method, schemas)
    const body = wanted === 'GET' ? undefined : inventBody(method, schemas)
    if (filled === undefined || (wanted !== 'GET' && body === undefined)) continue
    return { path, request: { method: wanted, path: filled, needsToken: !method.public, body } }
  }
  return undefined
}

/** The entity of a path parameter rarely exists. */
function costOf({ path, method }: Candidate): number {
  return listPathParameters(path).length * 2 + Number(!method.public)
}

function inventBody({ request, requestTypes }: ManifestMethod, schemas: Manifest['schemas']): string | undefined {
  if (requestTypes !== undefined && !Object.hasOwn(requestTypes, 'application/json')) return undefined
  if (request === undefined) return '{}'
  const value = generateSample(request, schemas)
  return value === undefined ? undefined : JSON.stringify(value)
}

function writePath(path: string, { params, query }: ManifestMethod, schemas: Manifest['schemas']): string | undefined {
  const values = inventParts(params, schemas)
  const queryValues = inventParts(query, schemas)
  if (values === undefined || queryValues === undefined) return undefined
  const filled = fillPath(path, (name, isRest) => encodePathValue(values[name] ?? name, isRest))
  const search = new URLSearchParams(queryValues).toString()
  return search === '' ? filled : `${filled}?${search}`
}

function inventParts(schema: JsonSchema | undefined, schemas: Manifest['schemas']): Record<string, string> | undefined {
  if (schema === undefined) return {}
  const values = generateSample(schema, schemas)
  return values === undefined
    ? undefined
    : Object.fromEntries(Object.entries(values as object).map(([name, value]) => [name, String(value)]))
}
