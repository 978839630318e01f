import { bodylessStatuses } from '../../kit/index.ts'
import type { Manifest, ManifestAction, ManifestListener, ManifestMethod, ManifestRoute } from '../../release/index.ts'

/** Converts a manifest to the language of `waypost.yml`, so that it can be checked like a project. */
export function describeManifest(manifest: Manifest): Record<string, unknown> {
  return {
    routes: Object.fromEntries(manifest.routes.map((route) => [route.path, describeRoute(route)])),
    static: mapValues(manifest.static ?? {}, ({ files: _, maxAgeMs, ...rest }) => ({
      ...rest,
      ...(maxAgeMs !== undefined && { max_age: `${maxAgeMs}ms` }),
    })),
    schema: manifest.schemas,
    connection: manifest.connections,
    event: manifest.events,
    scope: manifest.scopes,
    listener: mapValues(manifest.listeners ?? {}, describeListener),
    cronjob: mapValues(manifest.cronjobs, ({ action, ...rest }) => ({ ...rest, action: describeAction(action) })),
    rate: mapValues(manifest.rates, ({ windowMs, ...rest }) => ({ ...rest, window: `${windowMs}ms` })),
    env: Object.fromEntries(
      Object.entries(manifest.variables).flatMap(([name, { declared }]) =>
        declared === undefined ? [] : [[name, declared]],
      ),
    ),
    config: manifest.config,
    plugins: manifest.plugins.map(({ from, config, ...rest }) => ({
      name: from,
      config,
      ...('host' in rest && { host: true }),
    })),
  }
}

function describeListener({ action, timeoutMs, retries, starts, ...rest }: ManifestListener) {
  return defined({
    ...rest,
    action: describeAction(action),
    timeout: timeoutMs === undefined ? undefined : `${timeoutMs}ms`,
    retries: retries?.map((ms) => `${ms}ms`),
    starts: starts === undefined ? undefined : { limit: starts.limit, window: `${starts.windowMs}ms` },
  })
}

function describeRoute({ deprecated, methods }: ManifestRoute) {
  return defined({
    path: methods[0]?.params,
    deprecated,
    methods: Object.fromEntries(methods.map((method) => [method.method, describeMethod(method)])),
  })
}

/** How each key of a method is written in `waypost.yml`. Keys of a route are written on each of its methods. */
const methodKeys = {
  method: () => ({}), // the key of the method's entry
  public: (value) => ({ public: value }),
  summary: (value) => ({ summary: value }),
  description: (value) => ({ description: value }),
  tags: (value) => ({ tags: value }),
  scopes: (value) => ({ scopes: value }),
  params: () => ({}), // on the route
  query: (value) => ({ parameters: value }),
  request: (value) => ({ request: value }),
  requestTypes: (value) => ({ request: describeTypes(value) }),
  responses: () => ({}), // see `describeResponses`
  responseTypes: () => ({}),
  raw: (value) => ({ raw: value }),
  bodyLimit: (value) => ({ body_limit: `${value}b` }),
  http: () => ({}), // described by the class of the action
  action: (value) => ({ action: describeAction(value) }),
  steps: (value) => ({ steps: value.map(({ name, action }) => ({ [name]: describeAction(action) })) }),
  without: () => ({}), // the other steps are written on each method
  dispatch: (value) => ({ dispatch: value }),
  dispatchData: () => ({}), // with `dispatch`
  timeoutMs: (value) => ({ timeout: `${value}ms` }),
  rate: (value) => ({ rate: value }),
  html: (value) => ({ html: value }),
  compression: (value) => ({ compression: value }),
  cache: ({ maxAgeMs, public: isShared }) => ({
    cache: { max_age: `${maxAgeMs}ms`, ...(isShared === true && { public: true }) },
  }),
  operationId: (value) => ({ operationId: value }),
} satisfies { [Key in keyof Required<ManifestMethod>]: (value: NonNullable<ManifestMethod[Key]>) => object }

function describeMethod(method: ManifestMethod): Record<string, unknown> {
  const write: Readonly<Record<string, (value: never) => object>> = methodKeys
  const parts = Object.entries(method).flatMap(([key, value]) =>
    value === undefined || write[key] === undefined ? [] : [write[key](value as never)],
  )
  // `requestTypes` replaces `request`, whatever their order is.
  const request = method.requestTypes === undefined ? {} : methodKeys.requestTypes(method.requestTypes)
  const { dispatch: event, dispatchData: data } = method
  const dispatch = data === undefined ? {} : { dispatch: { event, data } }
  return Object.assign({}, ...parts, request, dispatch, { responses: describeResponses(method) }) as Record<
    string,
    unknown
  >
}

function describeTypes(types: NonNullable<ManifestMethod['requestTypes']>): object {
  return { content: mapValues(types, ({ schema = null }) => schema) }
}

function describeResponses({ responses, responseTypes = {} }: ManifestMethod): object {
  const json = Object.entries(responses).map(([status, one]) => [status, bodylessStatuses.has(status) ? null : one])
  return { ...(Object.fromEntries(json) as object), ...mapValues(responseTypes, describeTypes) }
}

function describeAction(action: ManifestAction): unknown {
  return 'artifact' in action ? action.file : { class: action.class, config: action.config }
}

function mapValues<T, U>(record: Readonly<Record<string, T>>, map: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]))
}

function defined(value: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined))
}
