import { Type, type TSchema } from 'typebox'
import {
  opaque,
  duration,
  description,
  parametersPlace,
  tagNames,
  scopeNames,
  closed,
  statuses,
  mapOf,
} from './language-parts.ts'

// Routes, their groups and methods in waypost.yml.

export const classUseTitle = 'a class with its config'

export const classUse = (description: string) =>
  closed(
    classUseTitle,
    {
      class: Type.String({
        title: 'the name of a class',
        description: 'Name of a class that a plugin provides',
        minLength: 1,
      }),
      config: Type.Optional(
        Type.Record(Type.String(), Type.Unknown(), {
          title: 'a map',
          description: 'Config of the class; may contain ${env.NAME}',
        }),
      ),
    },
    description,
  )

export const action = Type.Union(
  [
    Type.String({ minLength: 1, description: 'A .ts or .js file, or the name of an entry in "action"' }),
    classUse('A class of a plugin'),
  ],
  { title: 'a file, the name of an action, or a class with its config', description: 'The code that runs' },
)

const responsePlace = (description: string) => Type.Ref(opaque.response, { description })

/** A response without a body, such as 204, has no schema. */
const responseSchema = Type.Union([responsePlace('Schema of the response'), Type.Null()])

const stepNames = {
  names: 'a step',
  pattern: '^[A-Za-z][A-Za-z0-9_]{0,99}$',
  keyHint: 'Use letters, digits and _ and begin with a letter: actions read context.state.NAME',
}

/** A list of maps with one key each, because their order matters. */
const steps = Type.Optional(
  Type.Array(
    Type.Record(
      Type.String({ pattern: stepNames.pattern }),
      Type.Union(
        [
          Type.String({ title: 'a file with the class of the step', pattern: '\\.[tj]s$' }),
          classUse('A step of a plugin'),
        ],
        { title: 'a file, or a class with its config' },
      ),
      { title: 'a map with one name', ...stepNames, additionalProperties: false, minProperties: 1, maxProperties: 1 },
    ),
    {
      title: 'a list of steps',
      description:
        'Code that runs in order before the action; those of groups and of the route run first. The result of NAME is available as `context.state.NAME`',
    },
  ),
)
const without = Type.Optional(
  Type.Array(Type.String({ title: 'the name of a step' }), {
    title: 'a list of names',
    description: 'Steps of groups or of the route that do not run',
    uniqueItems: true,
  }),
)

const ownKeys = closed('a method', {
  summary: Type.Optional(
    Type.String({
      title: 'one line of at most 120 characters',
      description: 'Title in /docs; default: the first sentence of the description',
      pattern: '^[^\\u0000-\\u001f]{1,120}$',
    }),
  ),
  description,
  tags: Type.Optional(
    tagNames('Replaces the tags of the route: the headings in /docs under which the method is listed'),
  ),
  operationId: Type.Optional(
    Type.String({
      title: 'a name of letters, digits and _',
      description:
        'Name of the operation in /openapi.json and of its function in generated clients; default: derived from method and path',
      pattern: '^[A-Za-z][A-Za-z0-9_]{0,99}$',
    }),
  ),
  public: Type.Optional(Type.Boolean({ description: 'Allows calls without a token; scopes then have no effect' })),
  scopes: Type.Optional(scopeNames('Replaces the scopes of the route; [] allows any valid token')),
  parameters: Type.Optional(parametersPlace('Query parameters')),
  request: Type.Optional(
    Type.Ref(opaque.request, { description: 'Schema of the JSON body, or `content` with its media types' }),
  ),
  body_limit: Type.Optional(
    Type.String({
      title: 'a size such as 512kb or 10mb',
      description: 'Maximum size of the request body; default: the setting of this name',
    }),
  ),
  raw: Type.Optional(Type.Boolean({ description: 'Also passes the exact bytes of the body to the action' })),
  response: Type.Optional(
    responsePlace('Schema of the JSON body of the 200 response, or `content` with its media types'),
  ),
  responses: Type.Optional(
    mapOf(responseSchema, {
      names: 'a response',
      ...statuses,
      description:
        'Schema or `content` of each response, by status; `4XX`, `5XX` and `default` apply to all other errors',
    }),
  ),
  action,
  steps,
  without,
  dispatch: Type.Optional(
    Type.Union(
      [
        Type.String({ minLength: 1, description: 'The name of an event' }),
        closed('an event and its data', {
          event: Type.String({ minLength: 1, description: 'The name of an event' }),
          data: Type.Array(Type.String({ minLength: 1 }), {
            description: 'The properties of the result that the event contains; default: all',
            minItems: 1,
            uniqueItems: true,
          }),
        }),
      ],
      {
        title: 'the name of an event, or an event and its data',
        description: 'Event to dispatch with each 2xx result, to all its subscribers',
      },
    ),
  ),
  timeout: Type.Optional(duration('Time limit, after which the caller gets a 503 response')),
  rate: Type.Optional(Type.String({ title: 'the name of a rate', description: 'Rate limit to apply' })),
  html: Type.Optional(Type.Literal('trusted', { description: 'Allows HTML responses with scripts' })),
  cache: Type.Optional(
    closed(
      'a cache policy',
      {
        max_age: duration(
          'How long callers may use a response without revalidating it; with 0s, they revalidate it each time',
        ),
        public: Type.Optional(
          Type.Boolean({ description: 'Allows caches that several callers share; only for public methods' }),
        ),
      },
      'Sets Cache-Control and ETag, and returns 304 to callers that already have the response; only for GET',
    ),
  ),
  compression: Type.Optional(
    Type.Boolean({
      description: 'false turns compression off for this method if `compression` in `config` is on',
      default: true,
    }),
  ),
})

const method = {
  ...ownKeys,
  keyHints: {
    maxSize:
      'Only files of a multipart body have it: { type: file, maxSize: 5mb }. The limit of the body is body_limit',
    middleware: 'Write steps: [{ NAME: src/FILE.ts }]',
  },
}

const routeKeys = {
  version: Type.Optional(Type.Literal(1, { description: 'Version of the definition language' })),
  scopes: Type.Optional(scopeNames('A token needs one of these scopes; [] allows any valid token')),
  path: Type.Optional(parametersPlace('Path parameters')),
  methods: Type.Optional(
    Type.Object(
      {
        GET: Type.Optional({ ...method, description: 'Reads data' }),
        POST: Type.Optional({ ...method, description: 'Adds data' }),
        PUT: Type.Optional({ ...method, description: 'Replaces data' }),
        PATCH: Type.Optional({ ...method, description: 'Changes data' }),
        DELETE: Type.Optional({ ...method, description: 'Removes data' }),
      },
      {
        title: 'a map of methods',
        description: 'Methods of the path; required unless the entry has `routes`',
        additionalProperties: false,
        minProperties: 1,
      },
    ),
  ),
  rate: Type.Optional(Type.String({ title: 'the name of a rate', description: 'Rate limit to apply' })),
  steps,
  without,
  timeout: Type.Optional(duration('Time limit of its methods, after which the caller gets a 503 response')),
  deprecated: Type.Optional(
    Type.Union([Type.String({ title: 'a date such as 2027-01-31' }), Type.Literal(true)], {
      title: 'a date such as 2027-01-31',
      description: 'Date from which the route is deprecated',
    }),
  ),
  tags: Type.Optional(
    tagNames('Headings in /docs under which its methods are listed; default: the paths of the groups around it'),
  ),
}

/** An entry without `routes` needs methods. Editors check this; `makeRoutes` reports it. */
const needsMethods = { if: { required: ['routes'] }, else: { required: ['methods'] } }
const groupDescription = Type.Optional(
  Type.String({ title: 'a string', description: 'Description of the group, shown in /docs' }),
)

/** The titles of maps of routes. Editors use the same schema for those of groups as for `routes` of waypost.yml. */
export const routesTitle = 'routes'

const routesOf = (route: TSchema) =>
  Type.Optional(
    Type.Record(Type.String(), route, {
      title: routesTitle,
      description:
        'Routes below this path, which makes it a group: they inherit its `scopes`, `rate`, `timeout`, `deprecated` and `tags`, replace them with their own, and add to its `steps`',
    }),
  )

/** A route in a group in a group. */
const inner = Type.Object(routeKeys, {
  title: 'a route',
  additionalProperties: false,
  keyHints: {
    routes: 'Groups can be nested at most two levels deep. Write the longer path instead',
    description: 'Only groups have a description. Describe the methods instead',
  },
})
const nested = closed('a route', { ...routeKeys, description: groupDescription, routes: routesOf(inner) })
export const routeLanguage: TSchema = Type.Object(
  { ...routeKeys, description: groupDescription, routes: routesOf(nested) },
  { title: 'a route', additionalProperties: false, ...needsMethods },
)
