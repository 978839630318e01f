import { Type, type TProperties, type TSchema } from 'typebox'

// The structure of waypost.yml, defined once: `checkStructure` checks the YAML against it and `makeEditorSchema` writes
// it for editors. `title` is how messages name a value; for maps `names` says what the keys name and `keyHint` how a
// key must look.

/** Values that are checked elsewhere, because their meaning depends on more than their structure. */
export const opaque = {
  schema: '#/$defs/schema',
  request: '#/$defs/request',
  response: '#/$defs/response',
  parameters: '#/$defs/parameters',
  config: '#/$defs/config',
} as const

/** Durations, sizes and similar values are checked when they are parsed. */
export const duration = (description: string) => Type.String({ title: 'a duration such as 30s or 5m', description })
export const description = Type.Optional(Type.String({ title: 'a string', description: 'Description, shown in /docs' }))
export const scopeDescription = Type.Optional(
  Type.String({
    title: 'a string',
    description: 'What the scope allows; shown in /docs and on the consent page',
  }),
)
export const schemaPlace = (description: string) => Type.Ref(opaque.schema, { description })
export const parametersPlace = (description: string) => Type.Ref(opaque.parameters, { description })
export const tagNames = (description: string) =>
  Type.Array(Type.String({ title: 'a name of 1 to 100 characters', pattern: '^[^\\u0000-\\u001f]{1,100}$' }), {
    title: 'a list of names',
    description,
    uniqueItems: true,
  })
const scopePattern = '^[!#-+\\--\\[\\]-~]+$'
export const scopeNames = (description: string) =>
  Type.Array(Type.String({ title: 'a scope name', pattern: scopePattern }), {
    title: 'a list of scope names',
    description,
    uniqueItems: true,
  })

export function closed<Properties extends TProperties>(title: string, properties: Properties, description?: string) {
  const options = { title, additionalProperties: false }
  return Type.Object(properties, description === undefined ? options : { ...options, description })
}

interface Keys {
  /** What the keys name. */
  readonly names: string
  readonly pattern: string
  readonly keyHint: string
  readonly description?: string
}

export const plainNames = {
  pattern: '^[A-Za-z0-9][A-Za-z0-9._-]*$',
  keyHint: 'Use letters, digits and . _ - and begin with a letter or a digit',
}
// Names that begin with "waypost." are reserved for test events and other events of Waypost.
export const eventNames = {
  pattern: '^(?!waypost\\.)[A-Za-z0-9][A-Za-z0-9._:/-]*$',
  keyHint: 'Use letters, digits and . _ : / - and begin with a letter or a digit, but not with "waypost."',
}
export const variableNames = {
  pattern: '^[A-Za-z_][A-Za-z0-9_]*$',
  keyHint: 'Use letters, digits and _ and begin with a letter or _',
}
export const scopeKeys = {
  pattern: scopePattern,
  keyHint: 'Spaces, commas, quotes and backslashes are not allowed in a scope',
}
export const statuses = {
  pattern: '^([2-5][0-9][0-9]|4XX|5XX|default)$',
  keyHint: 'Write a status from 200 to 599, or 4XX, 5XX or default for all other errors',
}

export function mapOf<Value extends TSchema>(value: Value, { names, pattern, keyHint, description }: Keys) {
  const title = `a map of ${names === 'a response' ? 'status' : 'name'} to ${names.replace(/^an? /, '')}`
  return Type.Record(Type.String({ pattern }), value, {
    title,
    ...(description === undefined ? {} : { description }),
    names,
    keyHint,
    additionalProperties: false,
  })
}
