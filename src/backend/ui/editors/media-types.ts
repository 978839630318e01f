// The media types of a request or a response, as the definition writes them below `content`.
import { isMap, type Json } from '../edit/values.ts'

export type BodyPart = 'request' | 'response'

export const multipartType = 'multipart/form-data'
export const formType = 'application/x-www-form-urlencoded'

const bytes = ['image/png', 'image/jpeg', 'application/pdf', 'application/zip', 'application/octet-stream']

/** The media types that are offered; any other can be typed. */
export const offeredTypes: Readonly<Record<BodyPart, readonly string[]>> = {
  request: ['application/json', multipartType, formType, 'text/plain', ...bytes],
  response: ['application/json', 'text/csv', 'text/event-stream', 'application/jsonl', 'text/plain', ...bytes],
}

export function isMediaType(type: string): boolean {
  return /^[a-z0-9][\w!#$&^.+-]*\/[a-z0-9][\w!#$&^.+-]*$/.test(type)
}

export function isJson(type: string): boolean {
  return /^application\/(?:[\w.-]+\+)?json$/.test(type)
}

/** Whether a body of a type always has a schema. All others are bytes without one, and text with one. */
export function needsSchema(type: string, part: BodyPart): boolean {
  if (isJson(type)) return true
  return part === 'request' ? type === multipartType || type === formType : isStream(type)
}

/** Whether a response of a type is a stream of values, each of its schema. */
export function isStream(type: string): boolean {
  return type === 'text/event-stream' || type === 'application/jsonl'
}

/** Whether a body of a type may have a schema. The action reads a stream of values itself. */
export function mayHaveSchema(type: string, part: BodyPart): boolean {
  return part === 'response' || !isStream(type)
}

/** The media types of a body: the items of a list, or the keys of a map. */
export function listTypes(content: unknown): readonly string[] {
  if (Array.isArray(content)) return content.map(String)
  return isMap(content) ? Object.keys(content) : []
}

/** Adds a media type with a schema to begin with. */
export function addType(content: unknown, type: string, part: BodyPart): unknown {
  const schema = firstSchema(type, part)
  if (Array.isArray(content) && schema === null) return [...(content as readonly unknown[]), type]
  return { ...toMap(content), [type]: schema }
}

export function removeType(content: unknown, type: string): unknown {
  if (Array.isArray(content)) return content.filter((one) => one !== type)
  return Object.fromEntries(Object.entries(toMap(content)).filter(([one]) => one !== type))
}

/** Changes the schema of a media type; null means bytes. */
export function changeSchema(content: unknown, type: string, schema: unknown): unknown {
  return { ...toMap(content), [type]: schema }
}

/** Returns the media types of a body that has only a schema, which is that of its JSON. */
export function toContent(schema: unknown): Json {
  return { content: { 'application/json': schema ?? { type: 'object' } } }
}

/** Returns the schema of the JSON of a body; undefined if it has other media types too. */
export function schemaOfOnlyJson(content: unknown): unknown {
  const [type, ...others] = listTypes(content)
  return type !== undefined && isJson(type) && others.length === 0 && isMap(content) ? content[type] : undefined
}

function toMap(content: unknown): Json {
  if (isMap(content)) return content
  return Object.fromEntries(listTypes(content).map((type) => [type, null]))
}

function firstSchema(type: string, part: BodyPart): unknown {
  if (part === 'request' && type === multipartType) return firstForm
  if (needsSchema(type, part)) return { type: 'object' }
  if (!mayHaveSchema(type, part) || !type.startsWith('text/')) return null
  return part === 'request' ? { type: 'string', maxLength: 10_000 } : { type: 'string' }
}

/** A file of the size that the default of `body_limit` allows. */
const firstForm = {
  type: 'object',
  required: ['file'],
  properties: { file: { type: 'file', maxSize: '500kb' } },
}
