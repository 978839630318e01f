import type { JsonSchema } from '../contract/index.ts'
import { parsePointer } from '../schema/index.ts'
import type { Schemas } from './schemas.ts'
import type { SchemaRoot } from './walk-schema.ts'

/** Returns a function that returns the schema which `#` refers to in a root, after conversion. */
export function findRoots({ walking }: Schemas): (root: SchemaRoot) => JsonSchema {
  const known = new Map<SchemaRoot, JsonSchema>()
  return (root) => {
    const found = known.get(root) ?? enclose(root.prefix, walking.outputs.get(root) ?? true)
    known.set(root, found)
    return found
  }
}

/** Returns a schema that has the given one at a pointer. */
function enclose(prefix: string, schema: JsonSchema): JsonSchema {
  return (parsePointer(prefix) ?? []).reduceRight<JsonSchema>((inner, key) => ({ [key]: inner }), schema)
}
