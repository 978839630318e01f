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
  reachesAccess,
  withoutAccessInRequired,
} from '../../schema/index.ts'

/** The schemas of a document. Every referenced schema becomes a component; the others stay in place. */
export interface Components {
  /**
   * Converts a schema for the document. `root` is the root for `#` references. In requests, a property with a default
   * is not required.
   */
  write(schema: JsonSchema, root: SchemaRoot, isRequest?: boolean): Schema
  /** Adds one of Waypost's own schemas under a name that no schema of the project has. @returns a `$ref` to it */
  addBuiltIn(name: string, schema: Schema): Schema
  readonly schemas: ReadonlyMap<string, Schema>
}

export function makeComponents(named: NamedSchemas): Components {
  const schemas = new Map<string, Schema>()
  /** Names of the components that are not named schemas, by their origin. */
  const names = new Map<string, string>()
  const isTaken = (name: string): boolean => Object.hasOwn(named, name) || schemas.has(name)
  const isOther = makeOtherCheck(named)

  function add(name: string, make: () => Schema): string {
    if (!schemas.has(name)) {
      schemas.set(name, {}) // reserves the name, because the schema may refer to itself
      schemas.set(name, make())
    }
    return name
  }

  /**
   * Adds a referenced schema as a component. Parts of schemas become components too, because many OpenAPI tools do not
   * follow references into another schema.
   */
  function addTarget({ named: name, pointer, root, schema }: Target, isRequest: boolean): string {
    const isRequestVariant = isRequest && isOther({ ...root, schema })
    if (name !== undefined && pointer === '' && !isRequestVariant) return add(name, () => write(schema, root))
    const key = `${name === undefined ? 'in place' : 'named'} ${root.name}#${pointer}${isRequestVariant ? ' sent' : ''}`
    const known = names.get(key)
    if (known !== undefined) return known
    const free = makeUnusedName(
      [root.name, ...namePartsOf(pointer), ...(isRequestVariant ? ['Request'] : [])].join('-'),
      isTaken,
    )
    names.set(key, free)
    return add(free, () => write(schema, root, isRequestVariant))
  }

  function writeInner(schema: JsonSchema, root: SchemaRoot, isRequest: boolean): JsonSchema {
    if (typeof schema === 'boolean') return schema
    // References to definitions now point to components.
    const placed = { schema, root: root.schema, named }
    const own = withoutAccessInRequired(placed, isRequest ? 'readOnly' : 'writeOnly')
    const { $defs: _, definitions: _legacy, ...rest } = isRequest ? requireWithoutDefault(own) : own
    const written = mapSubSchemas(rest, (inner, keyword) => writeInner(inner, root, isRequest && holdsAlways(keyword)))
    const target = typeof schema['$ref'] === 'string' ? followReference(schema['$ref'], root, named) : undefined
    return target === undefined ? written : { ...written, $ref: `#/components/schemas/${addTarget(target, isRequest)}` }
  }

  function write(schema: JsonSchema, root: SchemaRoot, isRequest = false): Schema {
    const written = writeInner(schema, root, isRequest)
    if (typeof written !== 'boolean') return written
    return written ? {} : { not: {} }
  }

  return {
    schemas,
    write,
    addBuiltIn(name, schema) {
      const known = names.get(`own ${name}`) ?? makeUnusedName(name, isTaken)
      names.set(`own ${name}`, known)
      return { $ref: `#/components/schemas/${add(known, () => schema)}` }
    },
  }
}

/**
 * Makes a function that returns true if requests require other properties than responses. It keeps the results, because
 * it visits all schemas that a schema refers to.
 */
function makeOtherCheck(named: NamedSchemas): (root: SchemaRoot) => boolean {
  const known = new Map<JsonSchema, boolean>()
  return (root) => {
    const isOther = known.get(root.schema) ?? (reachesRequiredDefault(root, named) || reachesAccess(root, named))
    known.set(root.schema, isOther)
    return isOther
  }
}

function makeUnusedName(wanted: string, isTaken: (name: string) => boolean): string {
  let name = wanted
  for (let count = 2; isTaken(name); count++) name = `${wanted}${count}`
  return name
}

/** Converts the segments of a pointer to parts of a name, without those that only announce a name. */
function namePartsOf(pointer: string): string[] {
  return pointer
    .split('/')
    .map((step) => decodeURIComponent(step).replaceAll(/~1|~0|[^A-Za-z0-9._-]+/g, '_'))
    .filter((step) => step !== '' && !['properties', '$defs', 'definitions', '_defs'].includes(step))
}
