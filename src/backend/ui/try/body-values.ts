// Bodies of other types than JSON: their fields, and what is sent.
import { resolveSchema, toSchema, type NamedSchemas, type Schema } from '../components/named-schemas.ts'
import type { CodePart } from './write-code.ts'

/** A media type that a method accepts. Without a schema, or with one of a file, it is bytes. */
export interface BodyType {
  readonly type: string
  readonly schema?: unknown
}

/** What was chosen and typed for a body. */
export interface BodyValues {
  /** The media type. */
  readonly type: string
  /** The texts of its parts by name, each line of a list one; that of a text by an empty name. */
  readonly texts: Readonly<Record<string, string | undefined>>
  /** The files of its parts by name; that of bytes by an empty name. */
  readonly files: Readonly<Record<string, readonly File[]>>
}

export interface BodyPart {
  readonly name: string
  readonly kind: 'text' | 'list' | 'json' | 'file' | 'files'
  readonly schema: Schema
  readonly isRequired: boolean
  /** The media types of a file. */
  readonly accept: string | undefined
  /** The limits of a file, its size in bytes and its media types. OpenAPI has them in the description. */
  readonly maxSize?: number
  readonly types?: readonly string[]
}

const multipart = 'multipart/form-data'
const form = 'application/x-www-form-urlencoded'

function isJson(type: string): boolean {
  return /^application\/(?:[\w.-]+\+)?json$/.test(type)
}

export type BodyKind = 'json' | 'parts' | 'text' | 'bytes'

export function kindOf({ type, schema }: BodyType): BodyKind {
  if (isJson(type) || type === '*/*') return 'json'
  if (type === multipart || type === form) return 'parts'
  return schema === undefined || isFile(toSchema(schema)) ? 'bytes' : 'text'
}

/** In a definition, a file has a type of its own; in OpenAPI, it is a binary string. */
function isFile({ type, format }: Schema): boolean {
  return type === 'file' || format === 'binary'
}

/** Lists the parts of a form. */
export function partsOf({ schema }: BodyType, named: NamedSchemas): readonly BodyPart[] {
  const own = resolveSchema(schema, named)
  const required = new Set((own['required'] ?? []) as readonly string[])
  return Object.entries(toSchema(own['properties'])).map(([name, value]) => {
    const found = resolveSchema(value, named)
    const item = found['type'] === 'array' ? resolveSchema(found['items'], named) : undefined
    const file = isFile(found) ? found : item !== undefined && isFile(item) ? item : undefined
    const kind =
      file !== undefined
        ? item === undefined
          ? 'file'
          : 'files'
        : isObject(item ?? found)
          ? 'json'
          : item === undefined
            ? 'text'
            : 'list'
    const schema = kind === 'files' ? { ...file, ...found } : found // with the description of its items
    return { name, kind, schema, isRequired: required.has(name), accept: acceptOf(file), ...limitsOf(file) }
  })
}

function isObject({ type, properties }: Schema): boolean {
  return type === 'object' || properties !== undefined
}

function limitsOf({ maxSize, types }: Schema = {}): Pick<BodyPart, 'maxSize' | 'types'> {
  return {
    ...(typeof maxSize === 'number' && { maxSize }),
    ...(Array.isArray(types) && { types: types.map(String) }),
  }
}

function acceptOf(file: Schema | undefined): string | undefined {
  const { types, contentMediaType } = file ?? {}
  if (Array.isArray(types)) return types.join(',')
  return typeof contentMediaType === 'string' && contentMediaType !== 'application/octet-stream'
    ? contentMediaType
    : undefined
}

/** What is sent, and how code writes it. */
export interface MadeBody {
  readonly payload: FormData | URLSearchParams | Blob | string
  /** Undefined if the browser writes it. */
  readonly contentType: string | undefined
  readonly code: CodePart
}

/** Makes the body from what was typed. */
export function makeBody(body: BodyType, values: BodyValues, named: NamedSchemas): MadeBody {
  const { type } = body
  const kind = kindOf(body)
  if (kind === 'text') {
    const text = values.texts[''] ?? ''
    return { payload: text, contentType: type, code: { kind, type, text } }
  }
  if (kind === 'bytes') {
    const file = values.files['']?.[0]
    const payload = file ?? new Blob([])
    return { payload, contentType: type, code: { kind, type, file: file?.name ?? 'FILE' } }
  }
  const fields = listFields(body, values, named)
  const isForm = type === form
  const code = {
    kind: 'parts',
    isForm,
    fields: fields.map(({ name, value }) =>
      value instanceof File ? { name, file: value.name, type: value.type } : { name, text: value },
    ),
  } as const
  if (!isForm) {
    const data = new FormData()
    for (const { name, value } of fields) data.append(name, value)
    return { payload: data, contentType: undefined, code }
  }
  const data = new URLSearchParams(
    fields.map(({ name, value }): [string, string] => [name, typeof value === 'string' ? value : value.name]),
  )
  return { payload: data, contentType: undefined, code }
}

function listFields(body: BodyType, { texts, files }: BodyValues, named: NamedSchemas) {
  return partsOf(body, named).flatMap(({ name, kind }): readonly { name: string; value: string | File }[] => {
    if (kind === 'file' || kind === 'files') return (files[name] ?? []).map((value) => ({ name, value }))
    const text = texts[name]
    if (text === undefined || text === '') return []
    return (kind === 'list' ? text.split('\n') : [text]).map((value) => ({ name, value }))
  })
}
