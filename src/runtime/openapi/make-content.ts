import type { JsonSchema } from '../../contract/index.ts'
import { formatSize, isJsonType, multipartType } from '../../kit/index.ts'
import type { ManifestMediaType } from '../../release/index.ts'
import { isFilePart, isFileSchema, listFileParts, type Schema, type SchemaRoot } from '../../schema/index.ts'
import { makeMedia, type OperationSources } from './make-media.ts'

/** Makes the Media Type Objects of a request, JSON first: many tools support only the first one. */
export function makeContent(
  types: Readonly<Record<string, ManifestMediaType>>,
  root: SchemaRoot,
  sources: OperationSources,
): Readonly<Record<string, object>> {
  const sorted = Object.entries(types).toSorted(([a], [b]) => Number(isJsonType(b)) - Number(isJsonType(a)))
  return Object.fromEntries(
    sorted.map(([type, { schema }]) => [
      type,
      schema === undefined ? { schema: makeBinary([type]) } : makeTyped(type, { ...root, schema }, sources),
    ]),
  )
}

function makeTyped(type: string, root: SchemaRoot, sources: OperationSources): object {
  if (type === multipartType) return makeMultipart(root, sources)
  const media = makeMedia(root, sources, true)
  // Requests get a generated example so that readers can send one; responses do not.
  const sample = 'example' in media || !isJsonType(type) ? undefined : sources.sampleOf(root.schema)
  return { ...media, ...(sample === undefined ? {} : { example: sample }) }
}

/** Files are binary strings, whose media types are in `encoding`: OpenAPI has no other way before 3.2. */
function makeMultipart(root: SchemaRoot, sources: OperationSources): object {
  const files = listFileParts(root.schema)
  const encoding = files.flatMap(({ name, types }) =>
    types === undefined ? [] : [[name, { contentType: types.join(', ') }] as const],
  )
  const media = makeMedia({ ...root, schema: describeFiles(root.schema) }, sources, true)
  return { ...media, ...(encoding.length > 0 && { encoding: Object.fromEntries(encoding) }) }
}

function describeFiles(schema: JsonSchema): JsonSchema {
  if (typeof schema === 'boolean') return schema
  const properties = Object.entries((schema['properties'] ?? {}) as Readonly<Record<string, JsonSchema>>)
  if (properties.length === 0) return schema
  const described = properties.map(([name, one]) => [name, describePart(one)] as const)
  return { ...schema, properties: Object.fromEntries(described) }
}

function describePart(part: JsonSchema): JsonSchema {
  if (isFileSchema(part)) return describeFile(part)
  return isFilePart(part) ? { ...(part as Schema), items: describeFile(part['items'] as Schema) } : part
}

function describeFile({ description, types, maxSize }: Schema): Schema {
  const listed = types as readonly string[] | undefined
  const limit = `At most ${formatSize(Number(maxSize))}${listed === undefined ? '' : `; ${listed.join(' or ')}`}`
  const text = typeof description === 'string' ? `${description.replace(/\.$/, '')}. ${limit}` : limit
  return { ...makeBinary(listed), description: text, 'x-max-size': Number(maxSize) }
}

/** `format` is for tools that know OpenAPI 3.0. */
function makeBinary(types: readonly string[] | undefined): Schema {
  const [only = 'application/octet-stream', ...others] = types ?? []
  return {
    type: 'string',
    format: 'binary',
    contentMediaType: others.length === 0 ? only : 'application/octet-stream',
  }
}
