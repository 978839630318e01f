import type { Manifest, ManifestAction, ManifestMethod, ManifestRoute } from '../../release/index.ts'

/** A manifest in the language of `waypost.yml`, so that it is checked as that is. */
export function describeManifest(manifest: Manifest): Record<string, unknown> {
  return {
    routes: Object.fromEntries(manifest.routes.map((route) => [route.path, describeRoute(route)])),
    schema: manifest.schemas,
    connection: manifest.connections,
    event: manifest.events,
    scope: manifest.scopes,
    cronjob: mapValues(manifest.cronjobs, ({ action, ...rest }) => ({ ...rest, action: describeAction(action) })),
    rate: mapValues(manifest.rates, ({ limit, windowMs, by }) => ({ limit, window: `${windowMs}ms`, by })),
    env: Object.fromEntries(
      Object.entries(manifest.variables).flatMap(([name, { declared }]) =>
        declared === undefined ? [] : [[name, declared]],
      ),
    ),
    config: manifest.config,
    plugins: manifest.plugins,
  }
}

function describeRoute({ deprecated, methods }: ManifestRoute) {
  return defined({
    path: methods[0]?.params,
    deprecated,
    methods: Object.fromEntries(methods.map((method) => [method.method, describeMethod(method)])),
  })
}

/** Everything that a route may say for its methods is said by each of them; but for the path they share. */
function describeMethod(method: ManifestMethod) {
  const { public: isPublic, description, scopes, query, request, responses, dispatch, timeoutMs, rate, html } = method
  return defined({
    public: isPublic,
    description,
    scopes,
    parameters: query,
    request,
    responses: Object.fromEntries(
      Object.entries(responses).map(([status, schema]) => [status, isBodyless(status) ? null : schema]),
    ),
    action: describeAction(method.action),
    dispatch,
    timeout: timeoutMs === undefined ? undefined : `${timeoutMs}ms`,
    rate,
    html,
  })
}

export function isBodyless(status: string): boolean {
  return status === '204' || status === '205' || status === '304'
}

function describeAction(action: ManifestAction): unknown {
  return 'artifact' in action ? action.file : action
}

function mapValues<T, U>(record: Readonly<Record<string, T>>, map: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]))
}

function defined(value: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined))
}
