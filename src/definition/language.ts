import { Type, type TSchema } from 'typebox'
import { variableTypes } from '../kit/index.ts'
import {
  opaque,
  duration,
  description,
  scopeDescription,
  schemaPlace,
  scopeNames,
  closed,
  plainNames,
  eventNames,
  variableNames,
  scopeKeys,
  mapOf,
} from './language-parts.ts'
import { listenerKeys } from './listener-language.ts'
import { action, classUse, routeLanguage, routesTitle } from './route-language.ts'

export { opaque } from './language-parts.ts'
export { classUseTitle, routeLanguage, routesTitle } from './route-language.ts'

// The structure of waypost.yml. Parts that several entries share are in language-parts.ts.

const staticFolder = closed('a folder of files', {
  folder: Type.String({
    title: 'a folder of the project such as public',
    description: 'Folder of the project. All its files are public and part of releases',
  }),
  max_age: Type.Optional(
    duration(
      'How long callers may use a file without revalidating it; default: they revalidate it each time, as for HTML',
    ),
  ),
  fallback: Type.Optional(
    Type.String({
      title: 'a file such as index.html',
      description: 'File that browsers get for paths that do not exist, for apps with client-side routes',
    }),
  ),
})

const event = closed('an event', {
  description,
  schema: Type.Optional(schemaPlace("Schema of the event's data")),
  scopes: Type.Optional(scopeNames('Subscribers need one of these scopes')),
  private: Type.Optional(
    Type.Literal(true, {
      description: 'Only listeners receive the event: consumers neither see it nor subscribe to it',
    }),
  ),
})

const cronjob = closed('a cronjob', {
  schedule: Type.String({ title: 'a schedule such as "0 4 * * *"', description: 'Five fields, as in crontab' }),
  timezone: Type.Optional(
    Type.String({
      title: 'a time zone such as Europe/Berlin',
      description: 'Time zone of the schedule; default: UTC',
    }),
  ),
  timeout: Type.Optional(
    duration('Time limit, after which the signal is aborted and the run fails; default: 1h, at most 24h'),
  ),
  action,
})

const rate = closed('a rate', {
  limit: Type.Integer({
    title: 'an integer of at least 1',
    description: 'Number of requests allowed per window',
    minimum: 1,
    maximum: 1_000_000_000,
  }),
  window: duration('Length of the window'),
  by: Type.Optional(
    Type.Enum(['principal', 'address'], {
      description: 'Counts requests per principal or per address; default: principal',
    }),
  ),
  connection: Type.Optional(
    Type.String({
      title: 'the name of a connection',
      description: 'Connection that counts the requests to all servers; default: each server counts its own',
    }),
  ),
})

const variable = closed('a variable', {
  description: Type.Optional(Type.String({ title: 'a string', description: 'Description for operators' })),
  type: Type.Optional(
    Type.Enum([...variableTypes], { description: 'Type of the value in `context.env`; default: string' }),
  ),
  default: Type.Optional(
    Type.Union([Type.String(), Type.Number(), Type.Boolean()], {
      title: 'a string, a number, or true or false',
      description:
        'Value if the variable is not set, including in `${env.NAME}`; a variable without a default is required',
    }),
  ),
  secret: Type.Optional(Type.Boolean({ description: 'Keeps the value out of logs; the only allowed default is ""' })),
})

export const pluginTitle = 'a plugin'

const plugin = Type.Union(
  [
    Type.String({ minLength: 1, description: 'Name of an npm package, or a file of the project: ./plugins/geo.ts' }),
    closed(pluginTitle, {
      name: Type.String({
        title: 'the name of an npm package or a file',
        description: 'Name of an npm package, as in package.json, or a file of the project: ./plugins/geo.ts',
        minLength: 1,
      }),
      host: Type.Optional(
        Type.Boolean({
          description:
            'Excludes the package from releases, so that you install it on every server; for packages with native code',
        }),
      ),
      config: Type.Optional(
        Type.Record(Type.String(), Type.Unknown(), { title: 'a map', description: 'Config of the plugin' }),
      ),
    }),
  ],
  { title: 'the name of a package or file, or a map with name and config' },
)

/** Allows an empty value if no keys are required. */
const orEmpty = <Value extends TSchema>(value: Value, title: string) => Type.Union([value, Type.Null()], { title })
const section = <Value extends TSchema>(value: Value, title: string, description: string) =>
  Type.Optional(Type.Union([value, Type.Null()], { title, description }))

export const schemasLanguage: TSchema = mapOf(schemaPlace('A JSON Schema'), { names: 'a schema', ...plainNames })

/** Keys that people write in the wrong place. */
const misplaced = {
  steps: 'Write "steps" in a method, a route or a group of "routes"',
  methods: 'Write "methods" below a path in "routes"',
  request: 'Write "request" in a method',
}

const sections = closed('waypost.yml', {
  routes: section(
    Type.Record(Type.String(), routeLanguage, { title: routesTitle }),
    'a map of path to route',
    'Routes of the API, by path; a parameter is written as :NAME, the rest of the path as *NAME',
  ),
  static: section(
    Type.Record(Type.String(), staticFolder, { title: 'static files' }),
    'a map of path to folder',
    'Folders whose files anyone may read, by the path at which they are served; routes take precedence',
  ),
  schema: section(schemasLanguage, 'a map of name to schema', 'Shared schemas, by name'),
  connection: section(
    mapOf(classUse('An external system'), { names: 'a connection', ...plainNames }),
    'a map of name to connection',
    'External systems that actions use; System needs no entry',
  ),
  event: section(
    mapOf(orEmpty(event, 'an event'), { names: 'an event', ...eventNames }),
    'a map of name to event',
    'Events that actions dispatch, and who may subscribe',
  ),
  action: section(
    mapOf(classUse('A class of a plugin'), { names: 'an action', ...plainNames }),
    'a map of name to action',
    'Plugin classes that methods refer to by name',
  ),
  scope: section(
    mapOf(orEmpty(closed('a scope', { description: scopeDescription }), 'a scope'), { names: 'a scope', ...scopeKeys }),
    'a map of name to scope',
    'Scopes and their descriptions. If this section exists, using a scope that is not listed causes a warning',
  ),
  listener: section(
    mapOf(closed('a listener', { ...listenerKeys, action }), { names: 'a listener', ...plainNames }),
    'a map of name to listener',
    'Actions that handle events in the background',
  ),
  cronjob: section(
    mapOf(cronjob, { names: 'a cronjob', ...plainNames }),
    'a map of name to cronjob',
    'Actions that run on a schedule',
  ),
  rate: section(
    mapOf(rate, { names: 'a rate', ...plainNames }),
    'a map of name to rate',
    'Rate limits that routes and methods refer to by name',
  ),
  env: section(
    mapOf(orEmpty(variable, 'a variable'), { names: 'a variable', ...variableNames }),
    'a map of name to variable',
    'Environment variables that actions read as `context.env.NAME`',
  ),
  config: Type.Optional(Type.Ref(opaque.config, { description: 'Server settings' })),
  plugins: section(
    Type.Array(plugin),
    'a list of plugins',
    'npm packages or files that provide classes, routes or hooks',
  ),
})

export const language: TSchema = { ...sections, keyHints: misplaced }
