import { Type, type TProperties, type TSchema } from 'typebox'
import { keywordDescriptions } from './keyword-descriptions.ts'
import { opaque } from './language-parts.ts'

// The supported keywords of JSON Schema: those that Ajv accepts in strict mode, except references beyond one document.
// Sub-schemas are opaque here; `walkSchema` checks them.

const sub = Type.Ref(opaque.schema)
const subMap = Type.Record(Type.String(), sub, { title: 'a map of name to schema' })
const subList = Type.Array(sub, { title: 'a list of schemas', minItems: 1 })
const count = Type.Integer({ title: 'an integer of at least 0', minimum: 0 })
const namesHint = 'List the names of required properties beside "properties": required: [NAME]'
const names = Type.Array(Type.String({ title: 'a name' }), {
  title: 'a list of names',
  valueHint: namesHint,
  uniqueItems: true,
})
const text = Type.String({ title: 'a string' })

export const typeNames = ['string', 'integer', 'number', 'boolean', 'object', 'array', 'null'] as const
const fileHint =
  'A file is a property of a multipart schema that is written below multipart/form-data, or the items of an array there'
const typeName = Type.Enum([...typeNames], { title: 'a JSON Schema type', valueHints: { '^file$': fileHint } })

const annotations = {
  $schema: text,
  $id: text,
  $ref: text,
  $anchor: text,
  $comment: text,
  title: text,
  description: text,
  default: Type.Unknown(),
  examples: Type.Array(Type.Unknown(), { title: 'a list of values' }),
  deprecated: Type.Boolean(),
  readOnly: Type.Boolean(),
  writeOnly: Type.Boolean(),
  contentEncoding: text,
  contentMediaType: text,
  explode: Type.Boolean(),
}

const validation = {
  type: Type.Union([typeName, Type.Array(typeName, { minItems: 1, uniqueItems: true })], {
    title: 'a JSON Schema type or a list of them',
    valueHints: { '^file$': fileHint },
  }),
  enum: Type.Array(Type.Unknown(), { title: 'a list of values', minItems: 1 }),
  const: Type.Unknown(),
  format: text,
  minLength: count,
  maxLength: count,
  pattern: text,
  minimum: Type.Number(),
  maximum: Type.Number(),
  exclusiveMinimum: Type.Number(),
  exclusiveMaximum: Type.Number(),
  multipleOf: Type.Number({ title: 'a number greater than 0', exclusiveMinimum: 0 }),
  minItems: count,
  maxItems: count,
  uniqueItems: Type.Boolean(),
  minProperties: count,
  maxProperties: count,
  required: names,
}

const applicators = {
  allOf: subList,
  anyOf: subList,
  oneOf: subList,
  not: sub,
  if: sub,
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema; the table is never awaited
  then: sub,
  else: sub,
  properties: subMap,
  patternProperties: subMap,
  additionalProperties: sub,
  propertyNames: sub,
  contains: sub,
  $defs: subMap,
  definitions: subMap,
}

/** Keywords of OpenAPI, of drafts before 07, and those that refer beyond one document. */
const keyHints = {
  nullable: 'Write type: [TYPE, "null"]',
  example: 'Write examples: [VALUE]',
  discriminator: 'Write oneOf with a const in each schema',
  id: 'Write $id',
  divisibleBy: 'Write multipleOf',
  extends: 'Write allOf',
  content: 'Write it alone, in place of the schema of a request or a response',
  maxSize: 'It limits a file: { type: file, maxSize: 5mb } in a multipart schema',
  types: 'Write type: [TYPE, TYPE]. Of files in a multipart schema, "types" lists the media types',
  $dynamicRef: 'Write $ref',
  $dynamicAnchor: 'Write $anchor',
  $recursiveRef: 'Write $ref',
  $recursiveAnchor: 'Write $anchor',
}

function closed(properties: TProperties): TSchema {
  const optional = Object.entries(properties).map(([name, schema]) => {
    const description = keywordDescriptions[name]
    return [name, Type.Optional(description === undefined ? schema : { ...schema, description })]
  })
  const options = { title: 'a JSON Schema', keyHints, additionalProperties: false }
  return Type.Object(Object.fromEntries(optional) as TProperties, options)
}

const dependencies = Type.Record(Type.String(), Type.Unknown(), { title: 'a map of name to schema or list of names' })

/** JSON Schema 2020-12. */
export const schema2020 = closed({
  ...annotations,
  ...validation,
  ...applicators,
  contentSchema: sub,
  items: sub,
  prefixItems: subList,
  minContains: count,
  maxContains: count,
  unevaluatedItems: sub,
  unevaluatedProperties: sub,
  dependentSchemas: subMap,
  dependentRequired: Type.Record(Type.String(), names, { title: 'a map of name to list of names' }),
  dependencies,
})

/** JSON Schema draft-07. */
export const schemaDraft07 = closed({
  ...annotations,
  ...validation,
  ...applicators,
  items: Type.Unknown(),
  additionalItems: sub,
  dependencies,
})

/** A file of a multipart body. It is no JSON Schema. */
export const fileShape = Type.Object(
  {
    type: Type.Literal('file', { description: 'A file that is uploaded' }),
    description: Type.Optional(Type.String({ title: 'a string', description: 'Description, shown in /docs' })),
    types: Type.Optional(
      Type.Array(Type.String({ title: 'a media type' }), {
        title: 'a list of media types',
        description: 'Media types that are accepted; default: all',
        minItems: 1,
        uniqueItems: true,
      }),
    ),
    maxSize: Type.Union([Type.String(), Type.Integer({ minimum: 1 })], {
      title: 'a size such as 5mb',
      description: 'Maximum size of the file, for example 5mb; an integer is a number of bytes',
    }),
  },
  { title: 'a file', additionalProperties: false },
)

/** The formats of ajv-formats, those of JSON Schema, of OpenAPI, and two lenient ones for times without a time zone; and `decimal`. */
export const formats: readonly string[] = (
  'date time date-time iso-time iso-date-time duration uri uri-reference uri-template url email hostname ipv4 ipv6 ' +
  'regex uuid json-pointer json-pointer-uri-fragment relative-json-pointer byte int32 int64 float double password binary decimal'
).split(' ')
