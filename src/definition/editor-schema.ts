import type { Shape } from './check-structure.ts'
import { language, opaque } from './language.ts'
import { settingsLanguage } from './settings-language.ts'
import { schema2020, schemaDraft07 } from './schema-language.ts'

/**
 * Returns the JSON Schema of waypost.yml for editors, in draft-07 because their YAML support uses it. Editors read
 * `!include FILE` as text, so text is allowed wherever a map or a list is.
 */
export function makeEditorSchema(): object {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    description: 'A Waypost project: routes, schemas, connections and events',
    ...writeParts(language),
    $defs: {
      schema: writeSchemaPlace(),
      parameters: writeParametersPlace(),
      config: writeShape(settingsLanguage),
    },
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
