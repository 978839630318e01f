import { Type } from 'typebox'
import {
  findActiveManifest,
  listHostConnections,
  listHostMigrations,
  listHostTables,
  listTables,
  loadCatalog,
  testHostConnection,
} from '../../../operate/index.ts'
import { locateIn } from '../../draft/locate-in.ts'
import { defineRoute } from '../route.ts'
import { maybeText, oneOf, record, text } from '../shapes.ts'

// What the actions of the active release can use: connections with their tables and migrations, plugins, classes.

const name = Type.String({ maxLength: 200 })
const config = Type.Record(Type.String(), Type.Unknown())
const texts = Type.Array(text)
const flag = Type.Boolean()
const maybeNumber = Type.Union([Type.Number(), Type.Null()])
const schema = Type.Unknown()

const classes = defineRoute({
  name: 'listClasses',
  summary: 'The classes of connections, actions and route steps with the schemas of their config',
  method: 'GET',
  path: '/class',
  scopes: ['backend.read'],
  response: record({
    connections: Type.Array(
      record({ name: text, plugin: text, description: text, config: schema, capabilities: texts, migrations: flag }),
    ),
    actions: Type.Array(record({ name: text, plugin: text, description: text, config: schema, routes_only: flag })),
    steps: Type.Array(record({ name: text, plugin: text, description: text, config: schema })),
  }),
  async handle({ host, draft }) {
    // In `dev` also plugins that are not served yet.
    const manifest = (await draft?.loadPlugins()) ?? (await findActiveManifest(host))?.manifest
    const { connections, actions, steps } = await loadCatalog(manifest)
    return {
      connections: [...connections].map(([key, one]) => ({
        name: key,
        plugin: one.plugin,
        description: one.description,
        config: one.config,
        capabilities: one.capabilities ?? [],
        migrations: one.migrations !== undefined,
      })),
      actions: [...actions].map(([key, { plugin, description, config: of, routesOnly }]) => {
        return { name: key, plugin, description, config: of, routes_only: routesOnly ?? false }
      }),
      steps: [...steps].map(([key, { plugin, description, config: of }]) => ({
        name: key,
        plugin,
        description,
        config: of,
      })),
    }
  },
})

const column = record({
  name: text,
  type: text,
  length: maybeNumber,
  /** The type in the words of the database. */
  as: maybeText,
  null: flag,
  default: flag,
  generated: flag,
})

const tables = defineRoute({
  name: 'listTables',
  summary: 'The tables of the active release or of the draft, without their rows',
  method: 'GET',
  path: '/table',
  scopes: ['backend.read', 'backend.data'],
  /** `draft`: the tables after the migrations of the draft; of the active release while the draft has errors. */
  query: record({ of: Type.Optional(oneOf('active', 'draft')) }),
  response: record({
    entry: Type.Array(
      record({
        connection: text,
        name: text,
        view: flag,
        columns: Type.Array(column),
        key: texts,
        unique: Type.Array(texts),
        index: Type.Array(texts),
        references: Type.Array(record({ columns: texts, table: text, to: texts, on_delete: maybeText })),
        used_by: texts,
      }),
    ),
    problems: Type.Array(record({ file: text, problem: text })),
  }),
  async handle({ host, draft, query: { of } }) {
    const manifest = of === 'draft' ? await draft?.loadManifest?.() : undefined
    const { tables: listed, problems } =
      draft === undefined || manifest === undefined
        ? await listHostTables(host)
        : listTables(manifest, (await draft.read()).texts)
    const entry = listed.map(({ connection, name: own, table, usedBy }) => ({
      connection,
      name: own,
      view: table.view ?? false,
      columns: Object.entries(table.columns).map(([key, one]) => ({
        name: key,
        type: one.type,
        length: one.length ?? null,
        as: one.as ?? null,
        null: one.null ?? false,
        default: one.default ?? false,
        generated: one.generated ?? false,
      })),
      key: table.key ?? [],
      unique: table.unique ?? [],
      index: table.index ?? [],
      references: (table.references ?? []).map((one) => ({ ...one, on_delete: one.on_delete ?? null })),
      used_by: usedBy,
    }))
    return { entry, problems }
  },
})

const migrations = defineRoute({
  name: 'listMigrations',
  summary: 'The migrations of the active release, and whether they were applied',
  method: 'GET',
  path: '/migration',
  scopes: ['backend.read'],
  response: record({
    entry: Type.Array(
      record({
        connection: text,
        name: text,
        declared: flag,
        breaking: texts,
        /** Null if the database of the connection cannot be read. */
        state: Type.Union([
          Type.Literal('applied'),
          Type.Literal('pending'),
          Type.Literal('edited'),
          Type.Literal('unknown'),
          Type.Null(),
        ]),
        applied_at: maybeText,
      }),
    ),
    problems: Type.Array(record({ connection: text, problem: text })),
  }),
  async handle({ host }) {
    const { migrations: listed, problems } = await listHostMigrations(host)
    const entry = listed.map(({ isDeclared, state, appliedAt, ...rest }) => {
      return { ...rest, declared: isDeclared, state: state ?? null, applied_at: appliedAt ?? null }
    })
    return { entry, problems }
  },
})

const plugins = defineRoute({
  name: 'listPlugins',
  summary: 'The plugins of the active release, and those that ship with Waypost',
  method: 'GET',
  path: '/plugin',
  scopes: ['backend.read'],
  response: record({
    entry: Type.Array(
      record({
        name: text,
        /** As listed in `plugins:`; null for one that ships with Waypost. */
        from: maybeText,
        version: maybeText,
        place: Type.Union([Type.Literal('release'), Type.Literal('server'), Type.Literal('built-in')]),
        config,
        connections: texts,
        actions: texts,
        routes: flag,
      }),
    ),
  }),
  async handle({ host }) {
    const { plugins: listed } = await loadCatalog((await findActiveManifest(host))?.manifest)
    const entry = listed.map(({ catalog, from, version, isHost, config: of }) => ({
      name: catalog.name,
      from: from ?? null,
      version: version ?? null,
      place: from === undefined ? ('built-in' as const) : isHost ? ('server' as const) : ('release' as const),
      config: of,
      connections: Object.keys(catalog.connections),
      actions: Object.keys(catalog.actions),
      routes: catalog.routes ?? false,
    }))
    return { entry }
  },
})

const connections = defineRoute({
  name: 'listConnections',
  summary: 'System and the connections of the active release, without secrets',
  method: 'GET',
  path: '/connection',
  scopes: ['backend.read'],
  response: record({
    entry: Type.Array(
      record({
        name: text,
        class: text,
        plugin: maybeText,
        description: maybeText,
        config,
        source: maybeText,
        migrations: Type.Integer(),
      }),
    ),
  }),
  async handle({ host, draft }) {
    const entry = (await listHostConnections(host, locateIn(draft))).map(({ plugin, description, source, ...rest }) => {
      return { ...rest, plugin: plugin ?? null, description: description ?? null, source: source ?? null }
    })
    return { entry }
  },
})

const connectionTest = defineRoute({
  name: 'testConnection',
  summary: 'Opens a connection of the active release from this server, checks it and closes it',
  method: 'POST',
  path: '/connection/:name/test',
  scopes: ['backend.deploy'],
  params: record({ name }),
  response: record({ ok: flag, ms: Type.Number(), problem: maybeText }),
  async handle({ host, params }) {
    const { ms, problem } = await testHostConnection(host, params.name)
    return { ok: problem === undefined, ms, problem: problem ?? null }
  },
})

export const connectionRoutes = [classes, plugins, tables, migrations, connections, connectionTest] as const
