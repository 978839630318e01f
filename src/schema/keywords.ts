/** What the value of a keyword contains. */
export interface SchemaKeyword {
  readonly holds: 'schema' | 'list' | 'map'
  /** Its subschemas apply to the same value as the parent schema. */
  readonly here: boolean
}

/** The keywords of JSON Schema 2020-12 that contain schemas, and the draft-07 keywords that 2020-12 renamed. */
export const schemaKeywords: ReadonlyMap<string, SchemaKeyword> = new Map(
  Object.entries({
    allOf: { holds: 'list', here: true },
    anyOf: { holds: 'list', here: true },
    oneOf: { holds: 'list', here: true },
    not: { holds: 'schema', here: true },
    if: { holds: 'schema', here: true },
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema; this table is never awaited
    then: { holds: 'schema', here: true },
    else: { holds: 'schema', here: true },
    dependentSchemas: { holds: 'map', here: true },
    properties: { holds: 'map', here: false },
    patternProperties: { holds: 'map', here: false },
    $defs: { holds: 'map', here: false },
    definitions: { holds: 'map', here: false },
    additionalProperties: { holds: 'schema', here: false },
    unevaluatedProperties: { holds: 'schema', here: false },
    propertyNames: { holds: 'schema', here: false },
    items: { holds: 'schema', here: false },
    prefixItems: { holds: 'list', here: false },
    additionalItems: { holds: 'schema', here: false },
    unevaluatedItems: { holds: 'schema', here: false },
    contains: { holds: 'schema', here: false },
    contentSchema: { holds: 'schema', here: false },
  } satisfies Record<string, SchemaKeyword>),
)

/** Keywords that do not affect validation, or whose contents are reached only through references. */
export const annotations: ReadonlySet<string> = new Set([
  '$schema', '$id', '$anchor', '$comment', '$defs', 'definitions', 'title', 'description', 'default', 'examples',
  'deprecated', 'readOnly', 'writeOnly', 'contentEncoding', 'contentMediaType', 'contentSchema', 'explode',
]) // prettier-ignore
