import type { JsonSchema } from '../../contract/index.ts'
import type { Manifest, ManifestMethod } from '../../release/index.ts'

/** The source of an OpenAPI document: the manifest of a release, or the definition of a project. */
export interface Api extends Pick<Manifest, 'schemas' | 'scopes' | 'rates' | 'groups'> {
  readonly routes: readonly ApiRoute[]
}

export interface ApiRoute {
  readonly path: string
  readonly deprecated?: string | true
  readonly methods: readonly ApiMethod[]
}

export type ApiMethod = Omit<ManifestMethod, 'action' | 'steps' | 'without'> &
  MediaTypes & {
    /** Undefined for a route of a plugin. */
    readonly action?: { readonly file: string } | { readonly class: string }
  }

/** The media types of a route of a plugin; JSON by default. */
interface MediaTypes {
  /** Of the request, each with its schema; undefined for that of the method. */
  readonly consumes?: Readonly<Record<string, JsonSchema | undefined>>
  /** Of all responses with a schema. */
  readonly produces?: readonly string[]
}

const methodOrder = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/** Sorts an API, so that the document does not depend on the order of the files. */
export function sortApi(api: Api): Api {
  const routes = api.routes
    .map((route) => ({ ...route, methods: route.methods.toSorted((a, b) => rank(a) - rank(b)) }))
    .toSorted((a, b) => compareText(a.path, b.path))
  const scopes = Object.entries(api.scopes).toSorted(([a], [b]) => compareText(a, b))
  return { ...api, routes, scopes: Object.fromEntries(scopes) }
}

function rank({ method }: ApiMethod): number {
  return methodOrder.indexOf(method)
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}
