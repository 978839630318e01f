import type { Case } from './case.ts'

/** References of schemas that lead nowhere, or in a circle. */
export const referenceCases: readonly Case[] = [
  {
    name: 'an unknown named reference',
    files: { 'waypost.yml': 'schema:\n  A:\n    type: array\n    items: { $ref: schema:///B }\n' },
    problems: [
      'waypost.yml:4:20 «schema:///B» WP_DEFINITION_SCHEMA_UNKNOWN Unknown schema "B" | Did you mean "A" (waypost.yml:2)?',
    ],
  },
  {
    name: 'a named reference with two slashes',
    files: { 'waypost.yml': 'schema:\n  A:\n    type: array\n    items: { $ref: schema://A }\n' },
    problems: [
      'waypost.yml:4:20 «schema://A» WP_DEFINITION_SCHEMA_REFERENCE "schema://A" is not a valid reference to a schema | Write schema:///A',
    ],
  },
  {
    name: 'a reference from the net',
    files: { 'waypost.yml': 'schema:\n  A:\n    type: array\n    items: { $ref: "https://example.com/a.json" }\n' },
    problems: [
      'waypost.yml:4:20 «"https://example.com/a.json"» WP_DEFINITION_SCHEMA_REFERENCE "https://example.com/a.json" is not supported: schemas are never fetched from a URL | Copy the schema into the project and refer to it by relative path or as schema:///NAME',
    ],
  },
  {
    name: 'a bare name as a reference',
    files: { 'waypost.yml': 'schema:\n  A:\n    type: array\n    items: { $ref: A }\n' },
    problems: [
      'waypost.yml:4:20 «A» WP_DEFINITION_SCHEMA_REFERENCE "A" is not a valid reference to a schema | Write schema:///A',
    ],
  },
  {
    name: 'a local reference to nothing',
    files: { 'waypost.yml': 'schema:\n  A:\n    type: array\n    items: { $ref: "#/$defs/b" }\n' },
    problems: [
      'waypost.yml:4:20 «"#/$defs/b"» WP_DEFINITION_SCHEMA_REFERENCE The target of "#/$defs/b" does not exist',
    ],
  },
  {
    name: 'a local reference to no schema',
    files: { 'waypost.yml': 'schema:\n  A:\n    type: object\n    properties:\n      a: { $ref: "#/properties" }\n' },
    problems: [
      'waypost.yml:5:18 «"#/properties"» WP_DEFINITION_SCHEMA_REFERENCE The target of "#/properties" is not a schema | Refer to a schema, for example under "$defs"',
    ],
  },
  {
    name: 'a local reference to a misspelt name',
    files: { 'waypost.yml': 'schema:\n  A: { $ref: "#/$defs/adress", $defs: { address: true } }\n' },
    problems: [
      'waypost.yml:2:14 «"#/$defs/adress"» WP_DEFINITION_SCHEMA_REFERENCE The target of "#/$defs/adress" does not exist | Did you mean "#/$defs/address"?',
    ],
  },
  {
    name: 'a reference below $defs of a schema that has definitions',
    files: {
      'waypost.yml': 'schema:\n  A: { definitions: { x: true } }\n  B: { $ref: "schema:///A#/$defs/x" }\n',
    },
    problems: [
      'waypost.yml:3:14 «"schema:///A#/$defs/x"» WP_DEFINITION_SCHEMA_REFERENCE The target of "schema:///A#/$defs/x" does not exist | Did you mean "#/definitions/x"?',
    ],
  },
  {
    name: 'a reference behind the end of a tuple',
    files: {
      'waypost.yml':
        'schema:\n  A: { type: array, prefixItems: [true], minItems: 1, items: false }\n  B: { $ref: "schema:///A#/prefixItems/1" }\n  C: { $ref: "schema:///A#/prefixItems/00" }\n',
    },
    problems: [
      'waypost.yml:3:14 «"schema:///A#/prefixItems/1"» WP_DEFINITION_SCHEMA_REFERENCE The target of "schema:///A#/prefixItems/1" does not exist',
      'waypost.yml:4:14 «"schema:///A#/prefixItems/00"» WP_DEFINITION_SCHEMA_REFERENCE The target of "schema:///A#/prefixItems/00" does not exist',
    ],
  },
  {
    name: 'a circle of files through condition and allOf',
    files: {
      'waypost.yml': 'schema:\n  A: { $ref: a.yml }\n',
      'a.yml': 'if: { allOf: [{ $ref: b.yml }] }\nthen: true\n',
      'b.yml': '$ref: a.yml\n',
    },
    problems: [
      'b.yml:1:7 «a.yml» WP_DEFINITION_SCHEMA_LOOP The schema refers to itself endlessly: a.yml → b.yml → a.yml | A schema may only refer to itself inside "properties", "items" and similar keywords < a.yml:1:23 < waypost.yml:2:14',
    ],
  },
  {
    name: 'an anchor that is not there',
    files: { 'waypost.yml': 'schema:\n  A:\n    type: array\n    items: { $ref: "#b" }\n' },
    problems: ['waypost.yml:4:20 «"#b"» WP_DEFINITION_SCHEMA_REFERENCE The target of "#b" does not exist'],
  },
  {
    name: 'a fragment of a named schema that is not there',
    files: { 'waypost.yml': 'schema:\n  A:\n    type: array\n    items: { $ref: "schema:///A#/properties/x" }\n' },
    problems: [
      'waypost.yml:4:20 «"schema:///A#/properties/x"» WP_DEFINITION_SCHEMA_REFERENCE The target of "schema:///A#/properties/x" does not exist',
    ],
  },
  {
    name: 'a relative reference to a missing file',
    files: {
      'waypost.yml': 'schema:\n  A:\n    type: array\n    items: { $ref: ./addres.json }\n',
      'address.json': '{"type":"string"}',
    },
    problems: [
      'waypost.yml:4:20 «./addres.json» WP_DEFINITION_INCLUDE_MISSING File not found: addres.json | Did you mean address.json?',
    ],
  },
  {
    name: 'a relative reference above the project',
    files: { 'waypost.yml': 'schema:\n  A:\n    type: array\n    items: { $ref: ../a.json }\n' },
    problems: [
      'waypost.yml:4:20 «../a.json» WP_DEFINITION_INCLUDE_OUTSIDE "../a.json" is outside the project | Copy the file into the project: only files in its folder are deployed',
    ],
  },
  {
    name: 'a problem in a file that a reference reaches',
    files: {
      'waypost.yml': 'schema:\n  A:\n    type: array\n    items: { $ref: a.json }\n',
      'a.json': '{"type":"strin"}',
    },
    problems: [
      'a.json:1:9 «"strin"» WP_DEFINITION_SCHEMA_INVALID "strin" is not a JSON Schema type | Did you mean "string"? < waypost.yml:4:20',
    ],
  },
  {
    name: 'a schema that is itself',
    files: { 'waypost.yml': 'schema:\n  A:\n    $ref: schema:///A\n' },
    problems: [
      'waypost.yml:3:11 «schema:///A» WP_DEFINITION_SCHEMA_LOOP The schema refers to itself endlessly: A → A | A schema may only refer to itself inside "properties", "items" and similar keywords',
    ],
  },
  {
    name: 'two schemas that are each other',
    files: { 'waypost.yml': 'schema:\n  A: { $ref: schema:///B }\n  B: { allOf: [{ $ref: schema:///A }] }\n' },
    problems: [
      'waypost.yml:3:24 «schema:///A» WP_DEFINITION_SCHEMA_LOOP The schema refers to itself endlessly: A → B → A | A schema may only refer to itself inside "properties", "items" and similar keywords',
    ],
  },
  {
    name: 'a name that stands for itself',
    files: { 'waypost.yml': 'schema:\n  A: B\n  B: A\n' },
    problems: [
      'waypost.yml:3:6 «A» WP_DEFINITION_SCHEMA_LOOP The schema refers to itself endlessly: A → B → A | A schema may only refer to itself inside "properties", "items" and similar keywords',
    ],
  },
  {
    name: 'references to named schemas, written as OpenAPI and other tools write them',
    files: {
      'waypost.yml': `schema:
  A: { type: object }
  B:
    type: object
    properties:
      a: { $ref: '#/components/schemas/A' }
      b: { $ref: '#/definitions/A' }
      c: { $ref: '#/components/schemas/Other' }
      d: { $ref: '#/properties/components/schemas/A' }
`,
    },
    problems: [
      `waypost.yml:6:18 «'#/components/schemas/A'» WP_DEFINITION_SCHEMA_REFERENCE The target of "#/components/schemas/A" does not exist | Write schema:///A`,
      `waypost.yml:7:18 «'#/definitions/A'» WP_DEFINITION_SCHEMA_REFERENCE The target of "#/definitions/A" does not exist | Write schema:///A`,
      `waypost.yml:8:18 «'#/components/schemas/Other'» WP_DEFINITION_SCHEMA_REFERENCE The target of "#/components/schemas/Other" does not exist | Write schema:///NAME with a name under "schema:"`,
      `waypost.yml:9:18 «'#/properties/components/schemas/A'» WP_DEFINITION_SCHEMA_REFERENCE The target of "#/properties/components/schemas/A" does not exist`,
    ],
  },
]
