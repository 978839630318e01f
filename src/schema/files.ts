import type { JsonSchema } from '../contract/index.ts'
import type { Schema } from './references.ts'

/** A part of a multipart body that is a file, or a list of files. */
export interface FilePart {
  readonly name: string
  /** In bytes. */
  readonly maxSize: number
  /** The accepted media types; undefined if all are. */
  readonly types: readonly string[] | undefined
  /** Of a list. */
  readonly maxItems: number | undefined
}

/** Whether a schema is that of a file: `{ type: 'file', maxSize, types }`. */
export function isFileSchema(schema: unknown): schema is Schema {
  return typeof schema === 'object' && schema !== null && (schema as Schema)['type'] === 'file'
}

/** Whether a schema is that of a file or of a list of files. */
export function isFilePart(schema: JsonSchema): schema is Schema {
  return isFileSchema(schema) || (typeof schema === 'object' && isFileSchema(schema['items']))
}

/** Lists the files of the schema of a multipart body. They are written in its own properties. */
export function listFileParts(schema: JsonSchema): readonly FilePart[] {
  return Object.entries(propertiesOf(schema)).flatMap(([name, one]) => {
    if (!isFilePart(one)) return []
    const file = isFileSchema(one) ? one : (one['items'] as Schema)
    return [
      {
        name,
        maxSize: Number(file['maxSize']),
        types: file['types'] as readonly string[] | undefined,
        maxItems: isFileSchema(one) ? undefined : Number(one['maxItems'] ?? Infinity),
      },
    ]
  })
}

/** Returns the schema of a multipart body with any value in place of each file. */
export function withoutFiles(schema: JsonSchema): JsonSchema {
  const properties = Object.entries(propertiesOf(schema))
  if (!properties.some(([, one]) => isFilePart(one))) return schema
  const replaced = properties.map(([name, one]) => {
    if (isFileSchema(one)) return [name, true] as const
    return [name, isFilePart(one) ? { ...(one as Schema), items: true } : one] as const
  })
  return { ...(schema as Schema), properties: Object.fromEntries(replaced) }
}

/** Returns how many bytes the files of a multipart body may have together, with as many around each of them. */
export function sumFileSizes(schema: JsonSchema, around: number): number {
  return listFileParts(schema).reduce((sum, { maxSize, maxItems = 1 }) => sum + maxItems * (maxSize + around), 0)
}

function propertiesOf(schema: JsonSchema): Readonly<Record<string, JsonSchema>> {
  return typeof schema === 'boolean' ? {} : ((schema['properties'] ?? {}) as Readonly<Record<string, JsonSchema>>)
}
