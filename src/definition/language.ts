import { Type, type TProperties, type TSchema } from 'typebox'
import { variableTypes } from '../kit/index.ts'

// The structure of waypost.yml, said once: `checkStructure` walks the YAML against it and `makeEditorSchema` writes it
// for editors. `title` is how a message calls the thing; `names` in a map says whose names its keys are, `keyHint` how
// such a name looks.

/** Places that are looked into elsewhere, because what they mean depends on more than their structure. */
export const opaque = { schema: '#/$defs/schema', parameters: '#/$defs/parameters', config: '#/$defs/config' } as const

/** Durations, sizes and the like are checked where they are read. */
const duration = (description: string) => Type.String({ title: 'a duration such as 30s or 5m', description })
const description = Type.Optional(
  Type.String({ title: 'a text', description: 'What it is, for people who read /docs' }),
)
const scopeDescription = Type.Optional(
  Type.String({
    title: 'a text',
    description: 'What it allows, for people who read /docs and users whom a client asks for it',
  }),
)
const schemaPlace = (description: string) => Type.Ref(opaque.schema, { description })
const parametersPlace = (description: string) => Type.Ref(opaque.parameters, { description })
const scopePattern = '^[!#-+\\--\\[\\]-~]+$'
const scopeNames = (description: string) =>
  Type.Array(Type.String({ title: 'a scope name', pattern: scopePattern }), {
    title: 'a list of scope names',
    description,
    uniqueItems: true,
  })

function closed<Properties extends TProperties>(title: string, properties: Properties, description?: string) {
  const options = { title, additionalProperties: false }
  return Type.Object(properties, description === undefined ? options : { ...options, description })
}

interface Keys {
  /** Whose names the keys are. */
  readonly names: string
  readonly pattern: string
  readonly keyHint: string
  readonly description?: string
}

const plainNames = {
  pattern: '^[A-Za-z0-9][A-Za-z0-9._-]*$',
  keyHint: 'Begin with a letter or a digit, and go on with those and . _ -',
}
// Names that begin with "waypost." are those of test events and whatever else Waypost itself sends.
const eventNames = {
  pattern: '^(?!waypost\\.)[A-Za-z0-9][A-Za-z0-9._:/-]*$',
  keyHint: 'Begin with a letter or a digit, but not with "waypost.", and go on with those and . _ : / -',
}
const variableNames = {
  pattern: '^[A-Za-z_][A-Za-z0-9_]*$',
  keyHint: 'Begin with a letter or _, and go on with those and digits',
}
const scopeKeys = { pattern: scopePattern, keyHint: 'A scope has no space, comma, quote or backslash in it' }
const statuses = { pattern: '^[2-5][0-9][0-9]$', keyHint: 'Write a status from 200 to 599' }

function mapOf<Value extends TSchema>(value: Value, { names, pattern, keyHint, description }: Keys) {
  const title = `a map of ${names === 'a response' ? 'status' : 'name'} to ${names.replace(/^an? /, '')}`
  return Type.Record(Type.String({ pattern }), value, {
    title,
    ...(description === undefined ? {} : { description }),
    names,
    keyHint,
    additionalProperties: false,
  })
}

const classUse = (description: string) =>
  closed(
    'a class with its config',
    {
      class: Type.String({
        title: 'the name of a class',
        description: 'The name that a plugin gives it',
        minLength: 1,
      }),
      config: Type.Optional(
        Type.Record(Type.String(), Type.Unknown(), {
          title: 'a map',
          description: 'What the class needs; ${env.NAME} may stand in it',
        }),
      ),
    },
    description,
  )

const action = Type.Union(
  [
    Type.String({ minLength: 1, description: 'A file that ends in .ts or .js, or the name of an entry of "action"' }),
    classUse('A class of a plugin'),
  ],
  { title: 'a file, the name of an action, or a class with its config', description: 'The code that answers or runs' },
)

/** An answer without a body, such as 204, has no schema. */
const answer = Type.Union([schemaPlace('Schema of the answer'), Type.Null()])

const method = closed('a method', {
  description,
  public: Type.Optional(
    Type.Boolean({ description: 'Whether it answers without a token; scopes then have no effect' }),
  ),
  scopes: Type.Optional(scopeNames("Replaces the route's; [] means any valid token")),
  parameters: Type.Optional(parametersPlace('Query parameters')),
  request: Type.Optional(schemaPlace('Schema of the body')),
  response: Type.Optional(schemaPlace('Schema of the answer 200')),
  responses: Type.Optional(
    mapOf(answer, { names: 'a response', ...statuses, description: 'Schema of each answer by its status' }),
  ),
  action,
  dispatch: Type.Optional(
    Type.String({ title: 'the name of an event', description: 'Event that gets each 2xx result' }),
  ),
  timeout: Type.Optional(duration('After this time the caller gets 503')),
  rate: Type.Optional(Type.String({ title: 'the name of a rate', description: 'How many requests may come' })),
  html: Type.Optional(Type.Literal('trusted', { description: 'Lets the answer be an HTML page with scripts' })),
})

const route = closed('a route', {
  version: Type.Optional(Type.Literal(1, { description: 'Of the language; there is only one' })),
  scopes: Type.Optional(scopeNames('A token needs one of these; [] means any valid token')),
  path: Type.Optional(parametersPlace('Path parameters')),
  methods: Type.Object(
    {
      GET: Type.Optional({ ...method, description: 'Reads' }),
      POST: Type.Optional({ ...method, description: 'Adds' }),
      PUT: Type.Optional({ ...method, description: 'Replaces' }),
      PATCH: Type.Optional({ ...method, description: 'Changes' }),
      DELETE: Type.Optional({ ...method, description: 'Removes' }),
    },
    {
      title: 'a map of methods',
      description: 'What the path answers',
      additionalProperties: false,
      minProperties: 1,
    },
  ),
  rate: Type.Optional(Type.String({ title: 'the name of a rate', description: 'How many requests may come' })),
  deprecated: Type.Optional(
    Type.Union([Type.String({ title: 'a date such as 2027-01-31' }), Type.Literal(true)], {
      title: 'a date such as 2027-01-31',
      description: 'Since when it is deprecated',
    }),
  ),
})

const event = closed('an event', {
  description,
  schema: Type.Optional(schemaPlace('Schema of its data')),
  scopes: Type.Optional(scopeNames('Who subscribes must hold one of these')),
})

const cronjob = closed('a cronjob', {
  schedule: Type.String({ title: 'a schedule such as "0 4 * * *"', description: 'Five fields, as in crontab' }),
  timezone: Type.Optional(
    Type.String({
      title: 'a time zone such as Europe/Berlin',
      description: 'Whose clocks the schedule means; default: UTC',
    }),
  ),
  timeout: Type.Optional(
    duration('After this time its signal aborts and the run has failed; default: 1h, at most 24h'),
  ),
  action,
})

const rate = closed('a rate', {
  limit: Type.Integer({
    title: 'a whole number from 1',
    description: 'So many requests may come',
    minimum: 1,
    maximum: 1_000_000_000,
  }),
  window: duration('In which so many requests may come'),
  by: Type.Optional(
    Type.Enum(['principal', 'address'], { description: 'Whose requests are counted; default: principal' }),
  ),
})

const variable = closed('a variable', {
  description: Type.Optional(Type.String({ title: 'a text', description: 'What it is, for people who set it' })),
  type: Type.Optional(
    Type.Enum([...variableTypes], { description: 'What its text is read as in `context.env`; default: string' }),
  ),
  default: Type.Optional(
    Type.Union([Type.String(), Type.Number(), Type.Boolean()], {
      title: 'a text, a number, or true or false',
      description: 'Its value where it is not set; without a default it must be set',
    }),
  ),
  secret: Type.Optional(Type.Boolean({ description: 'Leaves its value out of logs; no default but "" is allowed' })),
})

const plugin = Type.Union(
  [
    Type.String({ minLength: 1, description: 'The name of an npm package' }),
    closed('a plugin', {
      name: Type.String({ title: 'the name of an npm package', description: 'As in package.json', minLength: 1 }),
      config: Type.Optional(
        Type.Record(Type.String(), Type.Unknown(), { title: 'a map', description: 'What the plugin needs' }),
      ),
    }),
  ],
  { title: 'the name of a package, or a name with a config' },
)

/** Something of which nothing needs to be said may be there and empty. */
const orEmpty = <Value extends TSchema>(value: Value, title: string) => Type.Union([value, Type.Null()], { title })
const section = <Value extends TSchema>(value: Value, title: string, description: string) =>
  Type.Optional(Type.Union([value, Type.Null()], { title, description }))

export const language: TSchema = closed('waypost.yml', {
  routes: section(
    Type.Record(Type.String(), route, { title: 'routes' }),
    'a map of path to route',
    'What the API answers, by path; a parameter is written :NAME',
  ),
  schema: section(
    mapOf(schemaPlace('A JSON Schema'), { names: 'a schema', ...plainNames }),
    'a map of name to schema',
    'Schemas that are used in several places, by name',
  ),
  connection: section(
    mapOf(classUse('An outside system'), { names: 'a connection', ...plainNames }),
    'a map of name to connection',
    'Outside systems that actions use; System needs no entry',
  ),
  event: section(
    mapOf(orEmpty(event, 'an event'), { names: 'an event', ...eventNames }),
    'a map of name to event',
    'What actions dispatch, and who may subscribe to it',
  ),
  action: section(
    mapOf(classUse('A class of a plugin'), { names: 'an action', ...plainNames }),
    'a map of name to action',
    'Classes of plugins that methods use by name',
  ),
  scope: section(
    mapOf(orEmpty(closed('a scope', { description: scopeDescription }), 'a scope'), { names: 'a scope', ...scopeKeys }),
    'a map of name to scope',
    'What scopes allow. Without this section a scope exists by being named; with it, naming any other scope is a warning',
  ),
  cronjob: section(
    mapOf(cronjob, { names: 'a cronjob', ...plainNames }),
    'a map of name to cronjob',
    'Actions that run on a schedule',
  ),
  rate: section(
    mapOf(rate, { names: 'a rate', ...plainNames }),
    'a map of name to rate',
    'How many requests may come, for methods to name',
  ),
  env: section(
    mapOf(orEmpty(variable, 'a variable'), { names: 'a variable', ...variableNames }),
    'a map of name to variable',
    'Variables of the environment that actions read as `context.env.NAME`',
  ),
  config: Type.Optional(Type.Ref(opaque.config, { description: 'Settings of the server' })),
  plugins: section(Type.Array(plugin), 'a list of plugins', 'npm packages that bring classes, routes or commands'),
})
