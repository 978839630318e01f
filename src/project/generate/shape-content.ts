import type { Writable, WritableMap } from '../../definition/index.ts'
import { formType, isJsonType, itemTypes, multipartType } from '../../kit/index.ts'

/** Schemas of a body that are made when one of its media types needs them. */
interface Schemas {
  /** Of a body of JSON. */
  json(): string
  /** Of one item of a stream. */
  item(): string
}

/** What a method sends with each of its media types; by default JSON. */
export function shapeResponse(types: readonly string[] | undefined, { json, item }: Schemas): Writable {
  return shapeContent(types, json, (type) => {
    if (itemTypes.has(type)) return item()
    return type.startsWith('text/') ? { type: 'string' } : null
  })
}

export interface RequestShape {
  readonly request: Writable
  /** Set if a file of the body is larger than the setting. */
  readonly body_limit?: string
}

/**
 * What a method accepts with each of its media types; by default JSON.
 * @param properties of the JSON, which become the fields of a multipart body beside its file
 */
export function shapeRequest(
  types: readonly string[] | undefined,
  { json, properties }: { json(): string; properties(): WritableMap },
): RequestShape {
  const request = shapeContent(types, json, (type) => {
    if (type === multipartType) return shapeParts(properties())
    if (type === formType) return json()
    return type.startsWith('text/') ? { type: 'string', maxLength: 10_000 } : null
  })
  return { request, ...(types?.includes(multipartType) && { body_limit: '6mb' }) }
}

function shapeParts(properties: WritableMap): Writable {
  const file = { type: 'file', types: ['image/png', 'image/jpeg'], maxSize: '5mb' }
  return {
    type: 'object',
    required: [...Object.keys(properties), 'file'],
    additionalProperties: false,
    properties: { ...properties, file },
  }
}

function shapeContent(
  types: readonly string[] = [],
  json: () => string,
  schemaOf: (type: string) => Writable,
): Writable {
  if (types.length === 0 || (types.length === 1 && types[0] === 'application/json')) return json()
  const content = types.map((type) => [type, isJsonType(type) ? json() : schemaOf(type)] as const)
  // Bytes have no schema.
  return { content: content.every(([, schema]) => schema === null) ? [...types] : Object.fromEntries(content) }
}
