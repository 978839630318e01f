import type { JsonSchema } from '../contract/index.ts'
import { escapeStep } from '../schema/index.ts'
import type { Shape } from './check-structure.ts'
import {
  classUseTitle,
  language,
  opaque,
  pluginTitle,
  routeLanguage,
  routesTitle,
  schemasLanguage,
} from './language.ts'
import { settingsLanguage } from './settings-language.ts'
import { multipartType } from '../kit/index.ts'
import { mediaTypePattern } from './check-media-type.ts'
import { fileShape, schema2020, schemaDraft07 } from './schema-language.ts'

/** The schemas of the configs that are known; others may contain anything. */
export interface ConfigSchemas {
  /** Of connection and action classes, by name. */
  readonly classes?: Readonly<Record<string, JsonSchema>>
  /** Of plugins, as listed in `plugins:`. */
  readonly plugins?: Readonly<Record<string, JsonSchema>>
}

/** What a file can contain: a whole project, one route, or a map of schemas. */
const contents = {
  'waypost.schema.json': { shape: language, description: 'A Waypost project: routes, schemas, connections and events' },
  'waypost-route.schema.json': { shape: routeLanguage, description: 'A route of a Waypost project' },
  'waypost-schemas.schema.json': { shape: schemasLanguage, description: 'Schemas of a Waypost project, by name' },
} satisfies Readonly<Record<string, { readonly shape: Shape; readonly description: string }>>

export type EditorSchemaFile = keyof typeof contents

export const editorSchemaFiles = Object.keys(contents) as readonly EditorSchemaFile[]

/**
 * Returns the JSON Schema of waypost.yml or of a file that it includes for editors, in draft-07 because their YAML support
 * uses it. Editors read `!include FILE` as text, so text is allowed wherever a map or a list is.
 */
export function makeEditorSchema(configs: ConfigSchemas = {}, file: EditorSchemaFile = 'waypost.schema.json'): object {
  const { shape, description } = contents[file]
  const { classes = {}, plugins = {} } = configs
  const define = (name: (of: string) => string, all: Readonly<Record<string, JsonSchema>>) =>
    Object.entries(all).map(([of, config]) => [name(of), allowText(withoutReferences(config))])
  const known = { [classUseTitle]: Object.keys(classes), [pluginTitle]: Object.keys(plugins) }
  const written = addConfigs(writeParts(shape), known) as object
  const text = JSON.stringify(written)
  const used = Object.entries({
    request: writeBody({ [multipartType]: writeMultipart() }),
    response: writeBody({}),
    parameters: writeParametersPlace(),
    routes: writeShape((language as Shape).properties!['routes']!),
    config: writeShape(settingsLanguage),
    ...Object.fromEntries([...define(nameOf[classUseTitle], classes), ...define(nameOf[pluginTitle], plugins)]),
  }).filter(([name]) => text.includes(`"${refTo(name)}"`))
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    ...written,
    description,
    $defs: { schema: writeSchemaPlace(), ...Object.fromEntries(used) },
  }
}

function refTo(name: string): string {
  return `#/$defs/${encodeURIComponent(escapeStep(name))}`
}

/** The places whose `config` depends on a name beside it: the key of that name, and how the config is called. */
const keyOf = { [classUseTitle]: 'class', [pluginTitle]: 'name' } as const
const nameOf = {
  [classUseTitle]: (name: string) => `config of ${name}`,
  [pluginTitle]: (name: string) => `config of the plugin ${name}`,
} as const

/** Adds the configs of classes and plugins to each place that names one. */
function addConfigs(value: unknown, known: Readonly<Record<keyof typeof keyOf, readonly string[]>>): unknown {
  if (Array.isArray(value)) return value.map((one) => addConfigs(one, known))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, one]): [string, unknown] => [key, addConfigs(one, known)])
  const written: Record<string, unknown> = Object.fromEntries(entries)
  const { title } = written
  if ((title !== classUseTitle && title !== pluginTitle) || known[title].length === 0) return written
  const key = keyOf[title]
  const when = (name: string) => ({
    if: { required: [key], properties: { [key]: { const: name } } },
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
    then: { properties: { config: { $ref: refTo(nameOf[title](name)) } } },
  })
  return { ...written, allOf: known[title].map(when) }
}

const identifiers = new Set(['$id', '$schema', '$anchor', '$dynamicAnchor'])

/** References of a config are relative to it, so what they refer to may be anything here. */
function withoutReferences(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutReferences)
  if (typeof value !== 'object' || value === null) return value
  const { $ref, $dynamicRef, description } = value as Readonly<Record<string, unknown>>
  if (typeof $ref === 'string' || typeof $dynamicRef === 'string')
    return description === undefined ? {} : { description }
  const kept = Object.entries(value).filter(([key, one]) => !(typeof one === 'string' && identifiers.has(key)))
  return Object.fromEntries(kept.map(([key, one]) => [key, withoutReferences(one)]))
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
    ...(properties === undefined ? {} : { properties: writeProperties(properties) }),
    ...(patternProperties === undefined ? {} : { patternProperties: writeEach(patternProperties) }),
    ...(items === undefined ? {} : { items: writeShape(items) }),
    ...(anyOf === undefined ? {} : { anyOf: writeBranches(anyOf) }),
  }
}

/** The routes of a group are written once for all levels: editors allow any number, `validate` two. */
function writeProperties({ routes, ...others }: Readonly<Record<string, Shape>>): object {
  if (routes?.title !== routesTitle) return writeEach(routes === undefined ? others : { routes, ...others })
  return {
    ...writeEach(others),
    routes: { title: 'a map of path to route', description: routes.description, $ref: refTo('routes') },
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
