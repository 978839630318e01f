import { Type, type Static } from 'typebox'
import { makeEditorSchema } from '../../../definition/index.ts'
import {
  collectSchemas,
  describeDraft,
  describeRelease,
  excerptOf,
  findReferences,
  loadReleaseFiles,
  schemasOf,
  type DescribedAction,
  type DescribedMethod,
  type DescribedRelease,
} from '../../../operate/index.ts'
import { loadActiveId } from '../../../release/index.ts'
import { generateSample } from '../../../schema/index.ts'
import { errors } from '../../errors.ts'
import type { Draft } from '../../draft/draft.ts'
import { locateIn } from '../../draft/locate-in.ts'
import { defineRoute, type AdminSources } from '../route.ts'
import { maybeText, record, text } from '../shapes.ts'

/** Part of the id of a release, `active`, or `draft`, which is the active one while the draft has errors. */
const id = Type.String({ pattern: '^([0-9a-f]{4,64}|active|draft)$' })
const config = Type.Record(Type.String(), Type.Unknown())
const texts = Type.Array(text)
const flag = Type.Boolean()
const maybeNumber = Type.Union([Type.Number(), Type.Null()])
const schema = Type.Unknown()

/** What uses a schema or an action. */
const use = record({ kind: Type.Enum(['route', 'listener', 'cronjob', 'event', 'schema']), name: text })
type Use = Static<typeof use>

const access = {
  public: flag,
  /** One of them is enough; empty for any valid token. */
  scopes: texts,
  /** Active users and clients with one of the scopes. */
  holders: Type.Union([record({ users: Type.Integer(), clients: Type.Integer() }), Type.Null()]),
}

const action = record({
  name: text,
  kind: Type.Union([Type.Literal('file'), Type.Literal('named'), Type.Literal('class')]),
  class: maybeText,
})

const method = {
  method: text,
  path: text,
  source: maybeText,
  description: maybeText,
  ...access,
  action,
  dispatch: maybeText,
  /** The properties of the result that the event has; null for the whole result. */
  dispatch_data: Type.Union([texts, Type.Null()]),
  rate: maybeText,
  deprecated: Type.Union([text, flag]),
  /** The paths of the groups around the route, the innermost first. */
  groups: texts,
  /** The group that a key of the method is from: `{ scopes: '/v1' }`. */
  inherited: Type.Record(Type.String(), text),
  /** In the last 24 hours. */
  calls: Type.Integer(),
  server_errors: Type.Integer(),
  p95_ms: maybeNumber,
}

const nothing = {
  id: null,
  is_active: false,
  routes: [],
  static: [],
  schemas: [],
  actions: [],
  events: [],
  cronjobs: [],
  rates: [],
  settings: [],
}

const definition = defineRoute({
  name: 'getDefinition',
  summary: 'What a release contains: routes, static folders, schemas, actions, events, cronjobs, rates and settings',
  method: 'GET',
  path: '/release/:id/definition',
  scopes: ['backend.read'],
  params: record({ id }),
  response: record({
    /** Null for a draft, and if the active release is requested before the first deployment, without anything. */
    id: maybeText,
    is_active: flag,
    routes: Type.Array(record(method)),
    /** Folders whose files anyone may read, by the path below which they are. */
    static: Type.Array(
      record({
        path: text,
        source: maybeText,
        folder: text,
        files: Type.Integer(),
        max_age_ms: maybeNumber,
        fallback: maybeText,
      }),
    ),
    schemas: Type.Array(record({ name: text, source: maybeText, schema, used_by: Type.Array(use) })),
    actions: Type.Array(
      record({
        name: text,
        kind: action.properties.kind,
        class: maybeText,
        source: maybeText,
        config: Type.Union([config, Type.Null()]),
        used_by: Type.Array(use),
      }),
    ),
    events: Type.Array(
      record({
        name: text,
        source: maybeText,
        description: maybeText,
        schema: Type.Optional(schema),
        scopes: texts,
        /** Whether only listeners receive it. */
        private: Type.Boolean(),
        dispatched_by: texts,
        /** The listeners that handle it. */
        listeners: texts,
      }),
    ),
    cronjobs: Type.Array(
      record({ name: text, source: maybeText, schedule: text, timezone: maybeText, timeout: maybeText, action }),
    ),
    rates: Type.Array(
      record({
        name: text,
        source: maybeText,
        limit: Type.Integer(),
        window_ms: Type.Integer(),
        by: text,
        connection: maybeText,
        used_by: texts,
      }),
    ),
    settings: Type.Array(
      record({ name: text, description: text, value: Type.Optional(Type.Unknown()), default: Type.Unknown() }),
    ),
  }),
  async handle({ params, ...call }) {
    const release = await findDescribed(call, params.id)
    if (release === undefined) return nothing
    const { manifest, sourceOf } = release
    const usersOf = (uses: (one: DescribedMethod) => boolean) => release.methods.filter(uses).map(nameOf)
    const references = indexReferences(release)
    return {
      id: release.id === '' ? null : release.id,
      is_active: release.isActive,
      routes: release.methods.map(formatMethod),
      static: Object.entries(manifest.static ?? {}).map(([path, { folder, files, maxAgeMs, fallback }]) => ({
        path,
        source: sourceOf('static', path) ?? null,
        folder,
        files: Object.keys(files).length,
        max_age_ms: maxAgeMs ?? null,
        fallback: fallback ?? null,
      })),
      schemas: Object.entries(manifest.schemas).map(([key, value]) => ({
        name: key,
        source: sourceOf('schema', key) ?? null,
        schema: value,
        used_by: references.get(key) ?? [],
      })),
      actions: listActions(release),
      events: Object.entries(manifest.events).map(([key, event]) => ({
        name: key,
        source: sourceOf('event', key) ?? null,
        description: event.description ?? null,
        ...(event.schema === undefined ? {} : { schema: event.schema }),
        scopes: event.scopes ?? [],
        private: event.private === true,
        dispatched_by: usersOf(({ of }) => of.dispatch === key),
        listeners: Object.entries(manifest.listeners ?? {}).flatMap(([name, one]) => (one.event === key ? [name] : [])),
      })),
      cronjobs: release.cronjobs.map((one) => {
        const { schedule, timezone, timeout } = manifest.cronjobs[one.name]!
        return {
          name: one.name,
          source: sourceOf('cronjob', one.name) ?? null,
          schedule,
          timezone: timezone ?? null,
          timeout: timeout ?? null,
          action: formatAction(one.action),
        }
      }),
      rates: Object.entries(manifest.rates).map(([key, { limit, windowMs, by, connection }]) => ({
        name: key,
        source: sourceOf('rate', key) ?? null,
        limit,
        window_ms: windowMs,
        by,
        connection: connection ?? null,
        used_by: usersOf(({ of }) => of.rate === key),
      })),
      settings: release.settings.map(({ value, ...rest }) => ({ ...rest, ...(value === undefined ? {} : { value }) })),
    }
  },
})

/** Returns undefined before the first deployment. @throws WP_RELEASE_UNKNOWN, WP_RELEASE_AMBIGUOUS */
async function findDescribed(
  { host, draft }: Pick<AdminSources, 'host' | 'draft'>,
  of: string,
): Promise<DescribedRelease | undefined> {
  const manifest = of === 'draft' ? await draft?.loadManifest?.() : undefined
  if (draft !== undefined && manifest !== undefined) {
    const { texts } = await draft.read()
    return describeDraft(host, manifest, await draft.thread.ask('locateAll', { texts }))
  }
  const isActive = of === 'active' || of === 'draft'
  if (isActive && (await loadActiveId(host.system)) === undefined) return undefined
  return describeRelease(host, isActive ? 'active' : of, locateIn(draft))
}

function nameOf({ method: verb, path }: Pick<DescribedMethod, 'method' | 'path'>): string {
  return `${verb} ${path}`
}

function formatAction({ name: label, kind, class: of }: DescribedAction) {
  return { name: label, kind, class: of ?? null }
}

function formatMethod(one: DescribedMethod) {
  const { of, traffic } = one
  return {
    method: one.method,
    path: one.path,
    source: one.source ?? null,
    description: of.description ?? null,
    public: one.public,
    scopes: one.scopes,
    holders: one.holders ?? null,
    action: formatAction(one.action),
    dispatch: of.dispatch ?? null,
    dispatch_data: of.dispatchData ?? null,
    rate: of.rate ?? null,
    deprecated: one.deprecated ?? false,
    groups: one.inherited?.groups ?? [],
    inherited: one.inherited?.from ?? {},
    calls: traffic?.requests ?? 0,
    server_errors: traffic?.serverErrors ?? 0,
    p95_ms: traffic?.p95Ms ?? null,
  }
}

/** The methods, events and schemas that refer to each schema. */
function indexReferences({ methods, manifest }: DescribedRelease): ReadonlyMap<string, readonly Use[]> {
  const users = new Map<string, Use[]>()
  const add = (kind: Use['kind'], user: string, value: unknown) => {
    for (const key of findReferences(value)) users.set(key, [...(users.get(key) ?? []), { kind, name: user }])
  }
  for (const one of methods) add('route', nameOf(one), schemasOf(one.of))
  for (const [key, event] of Object.entries(manifest.events)) add('event', key, event.schema)
  for (const [key, value] of Object.entries(manifest.schemas)) add('schema', key, value)
  return users
}

/** Actions with the methods, listeners and cronjobs that use them. A class that is configured in place has one user. */
function listActions({ methods, listeners, cronjobs }: DescribedRelease) {
  const uses = [
    ...methods.map((one) => ({ action: one.action, kind: 'route' as const, name: nameOf(one), source: one.source })),
    ...listeners.map((one) => ({ ...one, kind: 'listener' as const, source: undefined })),
    ...cronjobs.map((one) => ({ ...one, kind: 'cronjob' as const, source: undefined })),
  ]
  const groups = Map.groupBy(uses, ({ action: of, name }) => `${of.kind} ${of.name} ${of.kind === 'class' ? name : ''}`)
  return [...groups.values()]
    .map(([first, ...others]) => ({
      ...formatAction(first!.action),
      source: first!.action.source ?? (first!.action.kind === 'class' ? first!.source : undefined) ?? null,
      config: first!.action.config ?? null,
      used_by: [first!, ...others].map(({ kind, name }) => ({ kind, name })),
    }))
    .toSorted((a, b) => (a.name < b.name ? -1 : Number(a.name > b.name)))
}

const mediaTypes = Type.Record(Type.String(), record({ schema: Type.Optional(schema) }))

const oneMethod = defineRoute({
  name: 'getMethod',
  summary: 'A method of a release with its parameters, schemas and example',
  method: 'GET',
  path: '/release/:id/method',
  scopes: ['backend.read'],
  params: record({ id }),
  /** For example `GET` and `/todo/:id`. */
  query: record({ method: text, path: Type.String({ maxLength: 2048 }) }),
  response: record({
    ...method,
    /** The route steps that run before the action, in their order. */
    steps: Type.Array(record({ name: text, action: text })),
    /** Steps of groups or of the route that do not run. */
    without: texts,
    timeout_ms: maybeNumber,
    cache: Type.Union([record({ max_age_ms: Type.Number(), public: Type.Boolean() }), Type.Null()]),
    /** Whether responses may be compressed, if the setting of the project is on. */
    compression: Type.Boolean(),
    config: Type.Union([config, Type.Null()]),
    params: Type.Optional(schema),
    query: Type.Optional(schema),
    request: Type.Optional(schema),
    /** Set if the media types of the body are listed; without a schema, it is bytes. */
    request_types: Type.Optional(mediaTypes),
    responses: Type.Record(Type.String(), schema),
    /** By status, for those whose media types are listed. */
    response_types: Type.Optional(Type.Record(Type.String(), mediaTypes)),
    /** In bytes; null for that of the settings. */
    body_limit: maybeNumber,
    /** Whether the action gets the bytes of the body too. */
    raw: Type.Boolean(),
    /** The named schemas that these refer to, at any depth. */
    schemas: Type.Record(Type.String(), schema),
    /** The text of the method in its definition file. */
    definition: maybeText,
    /** A body that matches `request`; null if none can be generated. */
    example: Type.Unknown(),
  }),
  async handle({ params, query, ...call }) {
    const release = await findDescribed(call, params.id)
    const found = release?.methods.find((one) => one.method === query.method && one.path === query.path)
    if (release === undefined || found === undefined) throw errors.WP_BACKEND_METHOD_UNKNOWN({ name: nameOf(query) })
    const { of } = found
    const { schemas: named } = release.manifest
    return {
      ...formatMethod(found),
      definition: await loadExcerpt(call, release.id, found.source),
      steps: (of.steps ?? []).map(({ name, action: use }) => ({ name, action: 'file' in use ? use.file : use.class })),
      without: of.without ?? [],
      timeout_ms: of.timeoutMs ?? null,
      cache: of.cache === undefined ? null : { max_age_ms: of.cache.maxAgeMs, public: of.cache.public === true },
      compression: of.compression !== false,
      config: found.action.config ?? null,
      ...(of.params === undefined ? {} : { params: of.params }),
      ...(of.query === undefined ? {} : { query: of.query }),
      ...(of.request === undefined ? {} : { request: of.request }),
      ...(of.requestTypes === undefined ? {} : { request_types: of.requestTypes }),
      responses: of.responses,
      ...(of.responseTypes === undefined ? {} : { response_types: of.responseTypes }),
      body_limit: of.bodyLimit ?? null,
      raw: of.raw === true,
      schemas: collectSchemas(schemasOf(of), named),
      example: of.request === undefined ? null : (generateSample(of.request, named) ?? null),
    }
  },
})

async function loadExcerpt(
  { host, draft }: Pick<AdminSources, 'host' | 'draft'>,
  id: string,
  source: string | undefined,
): Promise<string | null> {
  if (source === undefined) return null
  const { files } = id === '' ? { files: await listTexts(draft) } : await loadReleaseFiles(host, id)
  return excerptOf(files, source) ?? null
}

async function listTexts(draft: Draft | undefined) {
  const texts = (await draft?.read())?.texts ?? new Map<string, string>()
  return [...texts].map(([path, content]) => ({ path, content }))
}

const definitionSchema = defineRoute({
  name: 'getDefinitionSchema',
  summary: 'The JSON Schema of waypost.yml, for editors',
  method: 'GET',
  path: '/definition-schema',
  scopes: ['backend.read'],
  response: Type.Record(Type.String(), Type.Unknown()),
  handle: async () => makeEditorSchema() as Readonly<Record<string, unknown>>,
})

export const definitionRoutes = [definition, oneMethod, definitionSchema] as const
