import type { Shape } from './check-structure.ts'
import { classUseTitle, language, opaque } from './language.ts'
import { settingsLanguage } from './settings-language.ts'
import { multipartType } from '../kit/index.ts'
import { mediaTypePattern } from './check-media-type.ts'
import { fileShape, schema2020, schemaDraft07 } from './schema-language.ts'

/** The schemas of the configs of known classes, by name. */
export type ConfigSchemas = Readonly<Record<string, object>>

/**
 * Returns the JSON Schema of waypost.yml for editors, in draft-07 because their YAML support uses it. Editors read
 * `!include FILE` as text, so text is allowed wherever a map or a list is.
 * @param configs connection and action classes; the configs of others may contain anything
 */
export function makeEditorSchema(configs: ConfigSchemas = {}): object {
  const { properties, ...rest } = writeParts(language) as { readonly properties: object }
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    description: 'A Waypost project: routes, schemas, connections and events',
    ...rest,
    properties: addConfigs(properties, Object.keys(configs)),
    $defs: {
      schema: writeSchemaPlace(),
      request: writeBody({ [multipartType]: writeMultipart() }),
      response: writeBody({}),
      parameters: writeParametersPlace(),
      config: writeShape(settingsLanguage),
      ...Object.fromEntries(Object.entries(configs).map(([name, config]) => [`config of ${name}`, allowText(config)])),
    },
  }
}

/** Adds the configs of classes to each place that names a class. */
function addConfigs(value: unknown, classes: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((one) => addConfigs(one, classes))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, one]): [string, unknown] => [key, addConfigs(one, classes)])
  const written: Record<string, unknown> = Object.fromEntries(entries)
  if (written['title'] !== classUseTitle || classes.length === 0) return written
  const when = (name: string) => ({
    if: { required: ['class'], properties: { class: { const: name } } },
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
    then: { properties: { config: { $ref: `#/$defs/config%20of%20${name}` } } },
  })
  return { ...written, allOf: classes.map(when) }
}

const variableText = { type: 'string', pattern: String.raw`\$\{env\.` }

/** Allows variables in place of the values of a config, and included files in place of maps and lists. */
function allowText(schema: unknown): unknown {
  if (typeof schema !== 'object' || schema === null) return schema
  const { properties, items, additionalProperties, ...rest } = schema as Readonly<Record<string, unknown>>
  const eachOf = (all: object) => Object.fromEntries(Object.entries(all).map(([key, one]) => [key, allowText(one)]))
  const inner = {
    ...rest,
    ...(typeof properties === 'object' && properties !== null ? { properties: eachOf(properties) } : {}),
    ...(items === undefined ? {} : { items: allowText(items) }),
    ...(additionalProperties === undefined ? {} : { additionalProperties: allowText(additionalProperties) }),
  }
  const { description } = rest
  const isContainer = rest['type'] === 'object' || rest['type'] === 'array' || 'anyOf' in rest || 'oneOf' in rest
  return {
    ...(description === undefined ? {} : { description }),
    anyOf: [inner, isContainer ? included : variableText],
  }
}

const included = { type: 'string' }

/** A schema by name, inline or included, in either version of JSON Schema. */
function writeSchemaPlace(): object {
  const { properties: later = {} }: Shape = schema2020
  const { properties: earlier = {} }: Shape = schemaDraft07
  const sub = { $ref: opaque.schema }
  const { items: described }: Readonly<Record<string, Shape>> = later
  const items = { ...describe(described), anyOf: [sub, { type: 'array', items: sub }] }
  const keywords = writeParts({ ...schema2020, properties: { ...earlier, ...later, items } })
  return { anyOf: [keywords, { type: 'boolean' }, included] }
}

/** A schema, or a map with the key `content`. */
function writeBody(own: Readonly<Record<string, object>>): object {
  const sub = { $ref: opaque.schema }
  const byType = {
    type: 'object',
    minProperties: 1,
    propertyNames: { pattern: mediaTypePattern },
    properties: own,
    additionalProperties: { anyOf: [sub, { type: 'null' }] },
  }
  const list = { type: 'array', minItems: 1, uniqueItems: true, items: { type: 'string', pattern: mediaTypePattern } }
  const content = {
    description: 'Media types of the body: a map of media type to schema, or a list. Without a schema it is bytes',
    anyOf: [byType, list, included],
  }
  return {
    anyOf: [{ type: 'object', required: ['content'], additionalProperties: false, properties: { content } }, sub],
  }
}

/** A schema of type object, whose properties may be files. */
function writeMultipart(): object {
  const sub = { $ref: opaque.schema }
  const file = writeParts(fileShape)
  const files = {
    type: 'object',
    required: ['type', 'maxItems', 'items'],
    properties: { type: { const: 'array' }, maxItems: { type: 'integer', minimum: 0 }, items: file },
  }
  const isFile = { properties: { type: { const: 'file' } }, required: ['type'] }
  const isList = { properties: { items: isFile }, required: ['items'] }
  const part = choose(isFile, file, choose(isList, files, sub))
  const parts = { properties: { properties: { anyOf: [{ type: 'object', additionalProperties: part }, included] } } }
  return {
    description: 'Schema of the parts, by name; parts may be files: { type: file, maxSize: 5mb }',
    ...choose({ type: 'object', required: ['properties'] }, parts, sub),
  }
}

function choose(condition: object, yes: object, no: object): object {
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
  return { if: condition, then: yes, else: no }
}

function describe({ description }: Shape = {}): Shape {
  return description === undefined ? {} : { description }
}

function writeParametersPlace(): object {
  return { anyOf: [{ $ref: opaque.schema }, { type: 'object', additionalProperties: { $ref: opaque.schema } }] }
}

function writeShape(shape: Shape): object {
  const written = writeParts(shape)
  if (shape.type !== 'object' && shape.type !== 'array') return written
  return { anyOf: [written, included] }
}

const ownKeywords: readonly string[] = [
  'names',
  'keyHint',
  'keyHints',
  'valueHint',
  'valueHints',
] satisfies (keyof Shape)[]

function writeParts(shape: Shape): object {
  const { properties, patternProperties, items, anyOf, ...rest } = shape
  const standardKeywords = Object.entries(rest).filter(([key]) => !ownKeywords.includes(key))
  return {
    ...Object.fromEntries(standardKeywords),
    ...(properties === undefined ? {} : { properties: writeEach(properties) }),
    ...(patternProperties === undefined ? {} : { patternProperties: writeEach(patternProperties) }),
    ...(items === undefined ? {} : { items: writeShape(items) }),
    ...(anyOf === undefined ? {} : { anyOf: writeBranches(anyOf) }),
  }
}

function writeEach(shapes: Readonly<Record<string, Shape>>): object {
  return Object.fromEntries(Object.entries(shapes).map(([key, shape]) => [key, writeShape(shape)]))
}

function writeBranches(branches: readonly Shape[]): object[] {
  const written = branches.map(writeParts)
  const takesText = branches.some(
    ({ type, $ref, enum: choices }) => type === 'string' || $ref !== undefined || choices !== undefined,
  )
  const mayBeIncluded = branches.some(({ type }) => type === 'object' || type === 'array')
  return mayBeIncluded && !takesText ? [...written, included] : written
}
