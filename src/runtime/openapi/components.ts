import type { JsonSchema } from '../../contract/index.ts'
import {
  followReference,
  holdsAlways,
  reachesRequiredDefault,
  requireWithoutDefault,
  type NamedSchemas,
  type Schema,
  type SchemaRoot,
  type Target,
  mapSubSchemas,
} from '../../schema/index.ts'

/** The schemas of a document: whatever something refers to becomes a component, the others stay where they are. */
export interface Components {
  /**
   * A schema as it stands in the document. What `#` means in it is the root. In what callers send, a property with a default
   * is not required.
   */
  write(schema: JsonSchema, root: SchemaRoot, isSent?: boolean): Schema
  /** A `$ref` to a schema of ours, under a name that no schema of the project has. */
  own(name: string, schema: Schema): Schema
  readonly schemas: ReadonlyMap<string, Schema>
}

export function makeComponents(named: NamedSchemas): Components {
  const schemas = new Map<string, Schema>()
  /** Names of the components that are no named schemas, by what they are made from. */
  const names = new Map<string, string>()
  const isTaken = (name: string): boolean => Object.hasOwn(named, name) || schemas.has(name)

  function add(name: string, make: () => Schema): string {
    if (!schemas.has(name)) {
      schemas.set(name, {}) // taken while it is written: it may refer to itself
      schemas.set(name, make())
    }
    return name
  }

  /** A part that is referred to is a component too: many readers of OpenAPI do not follow a reference into another one. */
  function addTarget({ named: name, pointer, root, schema }: Target, isSent: boolean): string {
    const isOther = isSent && reachesRequiredDefault({ ...root, schema }, named)
    if (name !== undefined && pointer === '' && !isOther) return add(name, () => write(schema, root))
    const key = `${name === undefined ? 'in place' : 'named'} ${root.name}#${pointer}${isOther ? ' sent' : ''}`
    const known = names.get(key)
    if (known !== undefined) return known
    const free = freeName([root.name, ...partsOf(pointer), ...(isOther ? ['Request'] : [])].join('-'), isTaken)
    names.set(key, free)
    return add(free, () => write(schema, root, isOther))
  }

  function writeInner(schema: JsonSchema, root: SchemaRoot, isSent: boolean): JsonSchema {
    if (typeof schema === 'boolean') return schema
    // Whatever refers into them refers to a component now.
    const { $defs: _, definitions: _legacy, ...rest } = isSent ? requireWithoutDefault(schema) : schema
    const written = mapSubSchemas(rest, (inner, keyword) => writeInner(inner, root, isSent && holdsAlways(keyword)))
    const target = typeof schema['$ref'] === 'string' ? followReference(schema['$ref'], root, named) : undefined
    return target === undefined ? written : { ...written, $ref: `#/components/schemas/${addTarget(target, isSent)}` }
  }

  function write(schema: JsonSchema, root: SchemaRoot, isSent = false): Schema {
    const written = writeInner(schema, root, isSent)
    if (typeof written !== 'boolean') return written
    return written ? {} : { not: {} }
  }

  return {
    schemas,
    write,
    own(name, schema) {
      const known = names.get(`own ${name}`) ?? freeName(name, isTaken)
      names.set(`own ${name}`, known)
      return { $ref: `#/components/schemas/${add(known, () => schema)}` }
    },
  }
}

function freeName(wanted: string, isTaken: (name: string) => boolean): string {
  let name = wanted
  for (let count = 2; isTaken(name); count++) name = `${wanted}${count}`
  return name
}

/** What a pointer's steps are called, without those that only say that a name follows. */
function partsOf(pointer: string): string[] {
  return pointer
    .split('/')
    .map((step) => decodeURIComponent(step).replaceAll(/~1|~0|[^A-Za-z0-9._-]+/g, '_'))
    .filter((step) => step !== '' && !['properties', '$defs', 'definitions', '_defs'].includes(step))
}
