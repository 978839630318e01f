import type { Static, TObject, TSchema } from 'typebox'
import type { DefinedRoute } from './route.ts'
import type { DefinedRoutes } from './routes.ts'

/**
 * The parameters, body, response and lines of each operation of the admin API, by method and path below `/backend`. The
 * pages import this type and nothing else of the server.
 */
export type Operations = {
  readonly [Route in DefinedRoutes as `${Route['method']} ${Route['path']}`]: TypesOf<Route>
}

type TypesOf<Route extends DefinedRoutes> =
  Route extends DefinedRoute<
    Route['method'],
    Route['path'],
    infer Params,
    infer Query,
    infer Body,
    infer Response,
    infer Lines
  >
    ? Part<'params', Params, TObject> &
        Part<'query', Query, TObject> &
        Part<'body', Body, TSchema> &
        Part<'response', Response, TSchema> &
        Part<'lines', Lines, TSchema>
    : never

/** Nothing if the route has no such schema: then its type is that of all schemas. */
type Part<Name extends string, Schema extends TSchema, All> = [All] extends [Schema]
  ? unknown
  : { readonly [Own in Name]: Static<Schema> }
