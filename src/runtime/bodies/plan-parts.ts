import type { JsonSchema } from '../../contract/index.ts'
import { followReference, listFileParts, type FilePart, type NamedSchemas, type Schema } from '../../schema/index.ts'

/** What the parts of a multipart body are. Others are texts. */
export interface PartPlan {
  readonly files: ReadonlyMap<string, FilePart>
  /** Parts that contain JSON, with the schema of one of them. */
  readonly json: ReadonlyMap<string, JsonPart>
  /** How many parts a body may have. */
  readonly maxParts: number
  /** The schema of the texts, with any value in place of files and JSON. */
  readonly texts: JsonSchema
}

export interface JsonPart {
  readonly name: string
  readonly schema: JsonSchema
  /** Whether each item of the list is a part of its own. */
  readonly isList: boolean
}

/** How many parts that are no files a body may have. */
export const maxTexts = 100

/** Plans how the parts of a multipart body are read. Objects are JSON; texts are converted like parameters. */
export function planParts(written: JsonSchema, named: NamedSchemas): PartPlan {
  const schema = resolve(written, named)
  const files = listFileParts(schema)
  const properties = (schema['properties'] ?? {}) as Readonly<Record<string, JsonSchema>>
  const json = Object.entries(properties).flatMap(([name, one]): JsonPart[] => {
    const item = resolve(one, named)
    if (isObject(item)) return [{ name, schema: one, isList: false }]
    const isList = item['type'] === 'array' && isObject(resolve((item['items'] ?? true) as JsonSchema, named))
    return isList ? [{ name, schema: one, isList }] : []
  })
  // References to the schema around them would have no target.
  const own = json.filter(({ schema: one }) => !JSON.stringify(one).includes('"$ref":"#'))
  const replaced = new Set([...files, ...own].map(({ name }) => name))
  const kept = Object.entries(properties).map(([name, one]) => [name, replaced.has(name) ? true : one] as const)
  return {
    files: new Map(files.map((one) => [one.name, one])),
    json: new Map(json.map((one) => [one.name, own.includes(one) ? one : { ...one, schema: true }])),
    maxParts: maxTexts + files.reduce((sum, { maxItems = 1 }) => sum + maxItems, 0),
    texts: 'properties' in schema ? { ...schema, properties: Object.fromEntries(kept) } : schema,
  }
}

const maxHops = 50

function resolve(start: JsonSchema, named: NamedSchemas): Schema {
  let found = { schema: start, root: { schema: start, name: '' } }
  for (let hops = 0; hops < maxHops && typeof found.schema === 'object'; hops += 1) {
    const reference = found.schema['$ref']
    if (typeof reference !== 'string') return found.schema
    const target = followReference(reference, found.root, named)
    if (target === undefined) return {}
    found = { schema: target.schema, root: { ...target.root, name: target.root.name } }
  }
  return {}
}

function isObject({ type, properties }: Schema): boolean {
  return type === 'object' || (type === undefined && properties !== undefined)
}
