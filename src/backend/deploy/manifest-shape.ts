import { Type, type TSchema } from 'typebox'
import type { ActionHttp } from '../../contract/index.ts'
import { variableTypes } from '../../kit/index.ts'
import type {
  Manifest,
  ManifestCatalog,
  ManifestConnectionClass,
  ManifestListener,
  ManifestMethod,
  ManifestMigration,
  ManifestRoute,
  ManifestStatic,
} from '../../release/index.ts'
import { releaseLimits } from './limits.ts'

const hash = Type.String({ pattern: '^[0-9a-f]{64}$' })
const name = Type.String({ minLength: 1, maxLength: 256 })
const text = Type.String({ maxLength: 10_000 })
const line = Type.String({ pattern: '^[^\\u0000-\\u001f]{1,2000}$' })
const scopes = Type.Array(Type.String({ minLength: 1, maxLength: 128 }), { maxItems: 1000 })
// The contents are checked by the classes that they configure.
const config = Type.Record(Type.String(), Type.Unknown())
const schema = Type.Union([Type.Boolean(), Type.Record(Type.String(), Type.Unknown())])

function strictObject<Properties extends Parameters<typeof Type.Object>[0]>(properties: Properties) {
  return Type.Object(properties, { additionalProperties: false })
}

/** Keys are names; they are checked where they are used. */
function mapOf<Item extends TSchema>(item: Item, maxProperties = 20_000) {
  return Type.Record(Type.String({ pattern: '^[^]{1,256}$' }), item, { maxProperties, additionalProperties: false })
}

const classUse = strictObject({ class: name, config })

const connectionClass = strictObject({
  description: text,
  clientType: text,
  migrations: Type.Optional(Type.Enum(['sqlite', 'postgresql'])),
  capabilities: Type.Optional(Type.Array(Type.Enum(['transaction', 'count']))),
  config: schema,
} satisfies Record<keyof ManifestConnectionClass, TSchema>)

const catalog = strictObject({
  name,
  config: Type.Optional(schema),
  connections: mapOf(connectionClass, 1000),
  actions: mapOf(
    strictObject({ description: text, config: schema, routesOnly: Type.Optional(Type.Literal(true)) }),
    1000,
  ),
  steps: Type.Optional(
    mapOf(strictObject({ description: text, config: schema, stateType: Type.Optional(text) }), 1000),
  ),
  routes: Type.Optional(Type.Literal(true)),
} satisfies Record<keyof ManifestCatalog, TSchema>)

const version = Type.String({ maxLength: 256 })
const plugin = Type.Union([
  strictObject({ from: name, artifact: hash, version: Type.Optional(version), config, catalog }),
  strictObject({ from: name, host: Type.Literal(true), version, config, catalog }),
])
const action = Type.Union([
  strictObject({
    artifact: hash,
    file: Type.String({ pattern: '^[^\\\\\\u0000-\\u001f]+\\.[tj]s$', maxLength: 1000 }),
  }),
  strictObject({ class: name, config, plan: Type.Optional(Type.Record(Type.String(), Type.Unknown())) }),
])

const stepName = Type.String({ pattern: '^[A-Za-z][A-Za-z0-9_]{0,99}$' })

const header = Type.String({ pattern: "^[A-Za-z0-9_!#$%&'*+.^`|~-]{1,200}$" })
const http = strictObject({
  headers: Type.Optional(Type.Record(header, Type.Enum(['optional', 'required']), { additionalProperties: false })),
  responses: Type.Optional(
    Type.Record(
      Type.String({ pattern: '^([2-5][0-9][0-9]|default)$' }),
      strictObject({
        type: Type.Optional(
          Type.String({ pattern: '^[A-Za-z0-9_!#$&^.+*-]+/[A-Za-z0-9_!#$&^.+*-]+$', maxLength: 200 }),
        ),
        headers: Type.Optional(Type.Array(header, { maxItems: 100 })),
        description: Type.Optional(text),
      }),
      { additionalProperties: false },
    ),
  ),
  behavior: Type.Optional(Type.Record(line, line, { additionalProperties: false })),
} satisfies Record<keyof ActionHttp, TSchema>)

const mediaTypes = Type.Record(
  Type.String({ pattern: '^[a-z0-9][a-z0-9!#$&^_.+-]{0,126}/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}$' }),
  strictObject({ schema: Type.Optional(schema) }),
  { additionalProperties: false, minProperties: 1, maxProperties: 100 },
)
const statusPattern = '^([2-5][0-9][0-9]|4XX|5XX|default)$'

const method = strictObject({
  method: Type.Enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
  public: Type.Boolean(),
  summary: Type.Optional(line),
  description: Type.Optional(text),
  tags: Type.Optional(Type.Array(line, { maxItems: 100 })),
  operationId: Type.Optional(Type.String({ pattern: '^[A-Za-z][A-Za-z0-9_]{0,99}$' })),
  scopes,
  params: Type.Optional(schema),
  query: Type.Optional(schema),
  request: Type.Optional(schema),
  requestTypes: Type.Optional(mediaTypes),
  responses: Type.Record(Type.String({ pattern: statusPattern }), schema, { additionalProperties: false }),
  responseTypes: Type.Optional(
    Type.Record(Type.String({ pattern: statusPattern }), mediaTypes, { additionalProperties: false }),
  ),
  raw: Type.Optional(Type.Literal(true)),
  bodyLimit: Type.Optional(Type.Integer({ minimum: 1, maximum: 16 * 1024 ** 3 })),
  http: Type.Optional(http),
  action,
  steps: Type.Optional(Type.Array(strictObject({ name: stepName, action }), { minItems: 1, maxItems: 100 })),
  without: Type.Optional(Type.Array(stepName, { minItems: 1, maxItems: 100 })),
  dispatch: Type.Optional(name),
  dispatchData: Type.Optional(Type.Array(line, { minItems: 1, maxItems: 1000 })),
  timeoutMs: Type.Optional(Type.Integer({ minimum: 1, maximum: 3_600_000 })),
  rate: Type.Optional(name),
  html: Type.Optional(Type.Literal('trusted')),
  cache: Type.Optional(
    strictObject({
      maxAgeMs: Type.Integer({ minimum: 0, maximum: 31_536_000_000, multipleOf: 1000 }),
      public: Type.Optional(Type.Literal(true)),
    }),
  ),
  compression: Type.Optional(Type.Literal(false)),
} satisfies Record<keyof ManifestMethod, TSchema>)

const route = strictObject({
  path: Type.String({ minLength: 1, maxLength: 1000 }),
  deprecated: Type.Optional(Type.Union([Type.String({ maxLength: 10 }), Type.Literal(true)])),
  methods: Type.Array(method, { minItems: 1, maxItems: 5 }),
} satisfies Record<keyof ManifestRoute, TSchema>)

const migration = strictObject({
  connection: name,
  name: Type.String({ pattern: '^[^/\\\\\\u0000-\\u001f]{1,200}$' }),
  checksum: hash,
  code: Type.Optional(Type.String({ pattern: '^[0-9a-f]{44}$' })),
  artifact: hash,
  outside: Type.Optional(Type.Literal(true)),
  declared: Type.Optional(strictObject({ breaking: Type.Optional(Type.Array(text, { maxItems: 1000 })) })),
} satisfies Record<keyof ManifestMigration, TSchema>)

const declared = strictObject({
  type: Type.Enum([...variableTypes]),
  description: Type.Optional(text),
  default: Type.Optional(Type.Union([text, Type.Integer(), Type.Boolean()])),
  secret: Type.Optional(Type.Literal(true)),
})

/** The form of a manifest. The meaning of names and texts is checked elsewhere. */
export const manifestShape = strictObject({
  format: Type.Literal(2),
  waypost: Type.String({ pattern: '^\\d{1,9}\\.\\d{1,9}\\.\\d{1,9}([-+][0-9A-Za-z.+-]{1,64})?$' }),
  routes: Type.Array(route, { maxItems: 20_000 }),
  groups: Type.Optional(mapOf(strictObject({ description: text }))),
  static: Type.Optional(
    mapOf(
      strictObject({
        folder: line,
        maxAgeMs: Type.Optional(Type.Integer({ minimum: 0, maximum: 31_536_000_000, multipleOf: 1000 })),
        fallback: Type.Optional(line),
        files: Type.Record(Type.String({ pattern: '^[^\\\\\\u0000-\\u001f\\u007f]{1,1000}$' }), hash, {
          maxProperties: 5000,
          additionalProperties: false,
        }),
      } satisfies Record<keyof ManifestStatic, TSchema>),
      100,
    ),
  ),
  schemas: mapOf(schema),
  connections: mapOf(classUse),
  events: mapOf(
    strictObject({
      description: Type.Optional(text),
      schema: Type.Optional(schema),
      scopes: Type.Optional(scopes),
      private: Type.Optional(Type.Literal(true)),
    }),
  ),
  scopes: mapOf(strictObject({ description: Type.Optional(text) })),
  listeners: Type.Optional(
    mapOf(
      strictObject({
        event: text,
        description: Type.Optional(text),
        action,
        timeoutMs: Type.Optional(Type.Integer({ minimum: 1 })),
        retries: Type.Optional(Type.Array(Type.Integer({ minimum: 1 }), { maxItems: 20 })),
        concurrency: Type.Optional(Type.Integer({ minimum: 1 })),
        exclusive: Type.Optional(Type.Union([Type.Literal(true), text])),
        starts: Type.Optional(
          strictObject({ limit: Type.Integer({ minimum: 1 }), windowMs: Type.Integer({ minimum: 1 }) }),
        ),
        once: Type.Optional(Type.Literal(true)),
      } satisfies Record<keyof ManifestListener, TSchema>),
    ),
  ),
  cronjobs: mapOf(
    strictObject({ schedule: text, timezone: Type.Optional(text), timeout: Type.Optional(text), action }),
  ),
  rates: mapOf(
    strictObject({
      limit: Type.Integer({ minimum: 1, maximum: 1_000_000_000 }),
      windowMs: Type.Integer({ minimum: 1000 }),
      by: Type.Enum(['principal', 'address']),
      connection: Type.Optional(name),
    }),
  ),
  config,
  plugins: Type.Array(plugin, { maxItems: 100 }),
  variables: mapOf(strictObject({ optional: Type.Boolean(), declared: Type.Optional(declared) })),
  migrations: Type.Array(migration, { maxItems: 20_000 }),
  artifacts: Type.Record(hash, Type.Integer({ minimum: 0, maximum: releaseLimits.artifactBytes }), {
    maxProperties: 50_000,
    additionalProperties: false,
  }),
} satisfies Record<keyof Manifest, TSchema>)
