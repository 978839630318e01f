import type { Case } from './case.ts'

/** Invalid JSON Schemas. */
export const schemaCases: readonly Case[] = [
  {
    name: 'arrays of requests without a limit, wherever they are; those of answers need none',
    files: {
      'waypost.yml': `routes:
  /a:
    scopes: [a]
    methods:
      POST: { request: Order, response: { type: array }, action: src/a.ts }
      PUT: { request: { type: [array, 'null'], items: { $ref: schema:///Tag } }, action: src/a.ts }
schema:
  Order:
    type: object
    properties:
      lines: { type: array, items: { type: object, properties: { tags: { $ref: schema:///Tags } } } }
      limited: { type: array, maxItems: 3, items: { type: array } }
      beside: { $ref: schema:///Tags, type: array, maxItems: 3 }
      all: { allOf: [{ type: array }, { $ref: schema:///Few }] }
      pair: { type: array, prefixItems: [{ type: string }], minItems: 1, items: false }
      one: { type: array, enum: [[1], [2]] }
      text: { anyOf: [{ type: string }, { not: { type: array } }] }
      $ref: { type: array, maxItems: 2, items: { $ref: schema:///Order } }
  Tags: { type: array, items: { $ref: schema:///Tag } }
  Few: { type: array, maxItems: 3 }
  Tag: { type: string }
`,
    },
    problems: [
      "waypost.yml:6:31 «[array, 'null']» warning WP_DEFINITION_ARRAY_UNLIMITED This array in a request has no maximum length | Add maxItems, for example maxItems: 100",
      'waypost.yml:11:22 «array» warning WP_DEFINITION_ARRAY_UNLIMITED This array in a request has no maximum length | Add maxItems, for example maxItems: 100',
      'waypost.yml:12:59 «array» warning WP_DEFINITION_ARRAY_UNLIMITED This array in a request has no maximum length | Add maxItems, for example maxItems: 100',
      'waypost.yml:19:17 «array» warning WP_DEFINITION_ARRAY_UNLIMITED This array in a request has no maximum length | Add maxItems, for example maxItems: 100',
    ],
  },
  {
    name: 'recursive alternatives of a request',
    files: {
      'waypost.yml': `
routes:
  /a:
    methods:
      POST: { scopes: [a], request: Alike, action: src/a.ts }
      PUT: { scopes: [a], request: Different, action: src/a.ts }
  /b:
    methods:
      GET: { scopes: [a], response: Alike, action: src/a.ts }
schema:
  Alike:
    oneOf:
      - { type: object, properties: { left: { $ref: schema:///Alike } } }
      - $ref: schema:///More
      - type: 'null'
  More: { type: object, required: [kind], properties: { kind: { const: more }, right: { $ref: schema:///Alike } } }
  Different:
    anyOf:
      - { type: string }
      - { type: array, maxItems: 9, items: { $ref: schema:///Different } }
      - { type: object, required: [a], properties: { a: { const: x }, b: { $ref: schema:///Different } } }
      - { type: object, required: [a], properties: { a: { enum: [y, z] }, b: { $ref: schema:///Different } } }
`,
      'src/a.ts': '',
    },
    problems: [
      'waypost.yml:13:9 «{ type: object, properties: { left: { $ref: schema:///Alike } } }» warning WP_DEFINITION_ALTERNATIVES_RECURSIVE The alternatives of this recursive schema cannot be distinguished, so deep request bodies are rejected | Give each alternative a required property with a different const, for example kind: { const: book }',
    ],
  },
  {
    name: 'an unknown type',
    files: { 'waypost.yml': 'schema:\n  A:\n    type: sting\n' },
    problems: [
      'waypost.yml:3:11 «sting» WP_DEFINITION_SCHEMA_INVALID "sting" is not a JSON Schema type | Did you mean "string"?',
    ],
  },
  {
    name: 'an unknown type in a list',
    files: { 'waypost.yml': 'schema:\n  A:\n    type: [string, nul]\n' },
    problems: [
      'waypost.yml:3:20 «nul» WP_DEFINITION_SCHEMA_INVALID "nul" is not a JSON Schema type | Did you mean "null"?',
    ],
  },
  {
    name: 'the type null without quotes',
    files: { 'waypost.yml': 'schema:\n  A:\n    type: [string, null]\n' },
    problems: [
      'waypost.yml:3:20 «null» WP_DEFINITION_SCHEMA_INVALID Each item of "type" must be a JSON Schema type, not empty | Quote it: "null"',
    ],
  },
  {
    name: 'an unknown keyword',
    files: { 'waypost.yml': 'schema:\n  A:\n    type: string\n    minLenght: 3\n' },
    problems: [
      'waypost.yml:4:5 «minLenght» WP_DEFINITION_SCHEMA_INVALID "minLenght" is not a valid key of a JSON Schema | Did you mean "minLength"?',
    ],
  },
  {
    name: 'a keyword of OpenAPI',
    files: { 'waypost.yml': 'schema:\n  A:\n    type: string\n    nullable: true\n' },
    problems: [
      'waypost.yml:4:5 «nullable» WP_DEFINITION_SCHEMA_INVALID "nullable" is not a valid key of a JSON Schema | Write type: [TYPE, "null"]',
    ],
  },
  {
    name: 'a keyword with a value of the wrong type',
    files: { 'waypost.yml': 'schema:\n  A:\n    type: string\n    minLength: three\n' },
    problems: [
      'waypost.yml:4:16 «three» WP_DEFINITION_SCHEMA_INVALID "minLength" must be an integer of at least 0, not "three"',
    ],
  },
  {
    name: 'a negative length',
    files: { 'waypost.yml': 'schema:\n  A:\n    type: string\n    minLength: -1\n' },
    problems: [
      'waypost.yml:4:16 «-1» WP_DEFINITION_SCHEMA_INVALID "minLength" must be an integer of at least 0, not -1',
    ],
  },
  {
    name: 'required as true',
    files: {
      'waypost.yml': 'schema:\n  A:\n    type: object\n    properties:\n      a: { type: string, required: true }\n',
    },
    problems: [
      'waypost.yml:5:36 «true» WP_DEFINITION_SCHEMA_INVALID "required" must be a list of names, not true | List the names of required properties beside "properties": required: [NAME]',
    ],
  },
  {
    name: 'an empty enum',
    files: { 'waypost.yml': 'schema:\n  A:\n    type: string\n    enum: []\n' },
    problems: ['waypost.yml:4:11 «[]» WP_DEFINITION_SCHEMA_INVALID "enum" must be a list of values, not an empty list'],
  },
  {
    name: 'an empty allOf',
    files: { 'waypost.yml': 'schema:\n  A:\n    allOf: []\n' },
    problems: [
      'waypost.yml:3:12 «[]» WP_DEFINITION_SCHEMA_INVALID "allOf" must be a list of schemas, not an empty list',
    ],
  },
  {
    name: 'keywords of several types without a type',
    files: { 'waypost.yml': 'schema:\n  A:\n    minLength: 3\n    maximum: 5\n    maxLength: 9\n' },
    problems: [
      'waypost.yml:3:5 «minLength» WP_DEFINITION_SCHEMA_INVALID "minLength", "maximum" and "maxLength" need a "type" | Add type: [string, number]',
    ],
  },
  {
    name: 'a condition without a type, which would decide the values for which it is true',
    files: { 'waypost.yml': 'schema:\n  A:\n    not: { minProperties: 2 }\n  B:\n    not: { enum: [1] }\n' },
    problems: [
      'waypost.yml:3:12 «minProperties» WP_DEFINITION_SCHEMA_INVALID "minProperties" needs a "type" | Add type: object',
    ],
  },
  {
    name: 'a value that its implied type excludes',
    files: {
      'waypost.yml': 'schema:\n  A:\n    pattern: ^a\n    default: 5\n  B:\n    enum: [a, b]\n    minimum: 1\n',
    },
    problems: [
      'waypost.yml:4:14 «5» WP_DEFINITION_SCHEMA_INVALID 5 in "default" is not of type "string"',
      'waypost.yml:7:5 «minimum» WP_DEFINITION_SCHEMA_INVALID "minimum" has no effect on type "string" | It applies to type number',
    ],
  },
  {
    name: 'a keyword of another type',
    files: { 'waypost.yml': 'schema:\n  A:\n    type: integer\n    minLength: 3\n' },
    problems: [
      'waypost.yml:4:5 «minLength» WP_DEFINITION_SCHEMA_INVALID "minLength" has no effect on type "integer" | It applies to type string',
    ],
  },
  {
    name: 'a type that the schema around it rules out',
    files: {
      'waypost.yml':
        'schema:\n  A:\n    type: object\n    anyOf:\n      - { type: string }\n      - { type: object }\n',
    },
    problems: [
      'waypost.yml:5:17 «string» WP_DEFINITION_SCHEMA_INVALID Type "string" is not possible: the enclosing schema has type "object"',
    ],
  },
  {
    name: 'an unknown format',
    files: { 'waypost.yml': 'schema:\n  A:\n    type: string\n    format: date-tme\n' },
    problems: [
      'waypost.yml:4:13 «date-tme» WP_DEFINITION_SCHEMA_INVALID Unknown format "date-tme" | Did you mean "date-time"?',
    ],
  },
  {
    name: 'a property of characters by its long name',
    files: { 'waypost.yml': "schema:\n  A:\n    type: string\n    pattern: '^\\p{Letter}+$'\n" },
    problems: [
      'waypost.yml:4:14 «\'^\\p{Letter}+$\'» WP_DEFINITION_SCHEMA_INVALID "^\\p{Letter}+$" is not supported as a pattern: invalid character class range: "\\p{Letter}" | Write \\p{L} for \\p{Letter}',
    ],
  },
  {
    name: 'a pattern that does not compile',
    files: { 'waypost.yml': "schema:\n  A:\n    type: string\n    pattern: '['\n" },
    problems: [
      'waypost.yml:4:14 «\'[\'» WP_DEFINITION_SCHEMA_INVALID "[" is not a valid pattern: Unterminated character class | Write a JavaScript pattern (flag u) without slashes around it',
    ],
  },
  {
    name: 'a pattern with look-around',
    files: { 'waypost.yml': "schema:\n  A:\n    type: string\n    pattern: '^(?!x)'\n" },
    problems: [
      'waypost.yml:4:14 «\'^(?!x)\'» WP_DEFINITION_SCHEMA_INVALID The lookaround "(?!" is not supported in patterns | Patterns must run in linear time; use a simpler pattern, or several schemas in allOf',
    ],
  },
  {
    name: 'a pattern with a back reference',
    files: { 'waypost.yml': "schema:\n  A:\n    type: string\n    pattern: '(a)\\1'\n" },
    problems: [
      'waypost.yml:4:14 «\'(a)\\1\'» WP_DEFINITION_SCHEMA_INVALID The backreference "\\1" is not supported in patterns | Patterns must run in linear time; use a simpler pattern, or several schemas in allOf',
    ],
  },
  {
    name: 'a pattern that repeats too often',
    files: { 'waypost.yml': "schema:\n  A:\n    type: string\n    pattern: '^a{2,5000}$'\n" },
    problems: [
      'waypost.yml:4:14 «\'^a{2,5000}$\'» WP_DEFINITION_SCHEMA_INVALID "^a{2,5000}$" is not supported as a pattern: invalid repeat count: "{2,5000}" | Patterns must run in linear time, with at most 1,000 repetitions; see docs/schemas.md for what they may contain',
    ],
  },
  {
    name: 'a property pattern that does not compile',
    files: { 'waypost.yml': "schema:\n  A:\n    type: object\n    patternProperties:\n      '(': true\n" },
    problems: [
      'waypost.yml:5:7 «\'(\'» WP_DEFINITION_SCHEMA_INVALID "(" is not a valid pattern: Unterminated group | Write a JavaScript pattern (flag u) without slashes around it',
    ],
  },
  {
    name: 'a required property that is misspelt',
    files: {
      'waypost.yml':
        'schema:\n  A:\n    type: object\n    required: [titel]\n    properties: { title: { type: string } }\n',
    },
    problems: [
      'waypost.yml:4:16 «titel» warning WP_DEFINITION_SCHEMA_REQUIRED "titel" is required, but not listed in "properties" | Did you mean "title"?',
    ],
  },
  {
    name: 'if without then',
    files: { 'waypost.yml': 'schema:\n  A:\n    type: string\n    if: { minLength: 1 }\n' },
    problems: ['waypost.yml:4:5 «if» WP_DEFINITION_SCHEMA_INVALID "if" has no effect without "then"'],
  },
  {
    name: 'then without if',
    files: { 'waypost.yml': 'schema:\n  A:\n    type: string\n    then: { minLength: 1 }\n' },
    problems: ['waypost.yml:4:5 «then» WP_DEFINITION_SCHEMA_INVALID "then" has no effect without "if"'],
  },
  {
    name: 'minContains without contains',
    files: { 'waypost.yml': 'schema:\n  A:\n    type: array\n    minContains: 2\n' },
    problems: [
      'waypost.yml:4:5 «minContains» WP_DEFINITION_SCHEMA_INVALID "minContains" has no effect without "contains"',
    ],
  },
  {
    name: 'a tuple of open length',
    files: { 'waypost.yml': 'schema:\n  A:\n    type: array\n    prefixItems: [{ type: string }]\n' },
    problems: [
      'waypost.yml:4:5 «prefixItems» WP_DEFINITION_SCHEMA_INVALID A tuple of 1 items must define its length | Add minItems: 1 and items: false',
    ],
  },
  {
    name: 'items of a tuple that would be left out',
    files: {
      'waypost.yml':
        'schema:\n  A:\n    type: array\n    prefixItems: [{ $ref: schema:///B }, { type: string, readOnly: true }, true]\n    minItems: 3\n    items: false\n  B: { type: string, writeOnly: true }\n',
    },
    problems: [
      'waypost.yml:4:19 «{ $ref: schema:///B }» WP_DEFINITION_SCHEMA_INVALID An item of a tuple cannot be "writeOnly", because without it, the items after it would move | Use an object',
      'waypost.yml:4:42 «{ type: string, readOnly: true }» WP_DEFINITION_SCHEMA_INVALID An item of a tuple cannot be "readOnly", because without it, the items after it would move | Use an object',
    ],
  },
  {
    name: 'a schema that is a list',
    files: { 'waypost.yml': 'schema:\n  A:\n    - type: string\n' },
    problems: [
      'waypost.yml:3:5 «- type: string» WP_DEFINITION_SCHEMA_INVALID A JSON Schema must be a map, true or false, not a list',
    ],
  },
  {
    name: 'a schema that is a name',
    files: { 'waypost.yml': 'schema:\n  A:\n    type: array\n    items: A\n' },
    problems: [
      'waypost.yml:4:12 «A» WP_DEFINITION_SCHEMA_INVALID A JSON Schema must be a map, true or false, not "A" | Write { $ref: schema:///A }',
    ],
  },
  {
    name: 'an unknown version of JSON Schema',
    files: { 'waypost.yml': 'schema:\n  A:\n    $schema: http://json-schema.org/draft-04/schema#\n    type: string\n' },
    problems: [
      'waypost.yml:3:14 «http://json-schema.org/draft-04/schema#» WP_DEFINITION_SCHEMA_INVALID "http://json-schema.org/draft-04/schema#" is not a supported version of JSON Schema | Supported versions: https://json-schema.org/draft/2020-12/schema and http://json-schema.org/draft-07/schema#',
    ],
  },
  {
    name: '$schema within a schema',
    files: {
      'waypost.yml':
        'schema:\n  A:\n    type: object\n    properties:\n      a: { $schema: "http://json-schema.org/draft-07/schema#" }\n',
    },
    problems: [
      'waypost.yml:5:21 «"http://json-schema.org/draft-07/schema#"» WP_DEFINITION_SCHEMA_INVALID "$schema" is only allowed at the top of a schema | Remove it; the version of the enclosing schema applies',
    ],
  },
  {
    name: '$id within a schema',
    files: {
      'waypost.yml': 'schema:\n  A:\n    type: object\n    properties:\n      a: { $id: "https://example.com/a" }\n',
    },
    problems: [
      'waypost.yml:5:17 «"https://example.com/a"» WP_DEFINITION_SCHEMA_INVALID "$id" is only allowed at the top of a schema | Name the schema under "schema:" and refer to it as schema:///NAME',
    ],
  },
  {
    name: 'draft-04 exclusiveMinimum',
    files: { 'waypost.yml': 'schema:\n  A:\n    type: integer\n    exclusiveMinimum: true\n' },
    problems: ['waypost.yml:4:23 «true» WP_DEFINITION_SCHEMA_INVALID "exclusiveMinimum" must be a number, not true'],
  },
  {
    name: 'a wrong schema in place in a route',
    files: {
      'waypost.yml':
        'routes:\n  /a:\n    methods:\n      GET:\n        public: true\n        action: src/a.ts\n        response: { type: object, propertys: {} }\n',
    },
    problems: [
      'waypost.yml:7:35 «propertys» WP_DEFINITION_SCHEMA_INVALID "propertys" is not a valid key of a JSON Schema | Did you mean "properties"?',
    ],
  },
]
