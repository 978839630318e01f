/** What the value of a keyword contains. */
export interface SchemaKeyword {
  readonly holds: 'schema' | 'list' | 'map'
  /** Whether its schemas apply to the same value as the schema that contains them. */
  readonly isInPlace: boolean
}

/** The keywords of JSON Schema 2020-12 that contain schemas, and those of draft-07 that 2020-12 renamed. */
export const schemaKeywords: ReadonlyMap<string, SchemaKeyword> = new Map(
  Object.entries({
    allOf: { holds: 'list', isInPlace: true },
    anyOf: { holds: 'list', isInPlace: true },
    oneOf: { holds: 'list', isInPlace: true },
    not: { holds: 'schema', isInPlace: true },
    if: { holds: 'schema', isInPlace: true },
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema; this table is never awaited
    then: { holds: 'schema', isInPlace: true },
    else: { holds: 'schema', isInPlace: true },
    dependentSchemas: { holds: 'map', isInPlace: true },
    properties: { holds: 'map', isInPlace: false },
    patternProperties: { holds: 'map', isInPlace: false },
    $defs: { holds: 'map', isInPlace: false },
    definitions: { holds: 'map', isInPlace: false },
    additionalProperties: { holds: 'schema', isInPlace: false },
    unevaluatedProperties: { holds: 'schema', isInPlace: false },
    propertyNames: { holds: 'schema', isInPlace: false },
    items: { holds: 'schema', isInPlace: false },
    prefixItems: { holds: 'list', isInPlace: false },
    additionalItems: { holds: 'schema', isInPlace: false },
    unevaluatedItems: { holds: 'schema', isInPlace: false },
    contains: { holds: 'schema', isInPlace: false },
    contentSchema: { holds: 'schema', isInPlace: false },
  } satisfies Record<string, SchemaKeyword>),
)

/** Keywords that do not affect which values are accepted, or are only used through references. */
export const annotations: ReadonlySet<string> = new Set([
  '$schema', '$id', '$anchor', '$comment', '$defs', 'definitions', 'title', 'description', 'default', 'examples',
  'deprecated', 'readOnly', 'writeOnly', 'contentEncoding', 'contentMediaType', 'contentSchema',
]) // prettier-ignore
