import type { Case } from './case.ts'

const code = 'WP_DEFINITION_SCHEMA_INVALID'

interface OneSchema {
  readonly schema: string
  /** The place within the schema, from column 6 of line 2. */
  readonly problems: readonly string[]
}

/** Schemas that no value matches, and values that their own schema rejects. `Small` and `Base` are always there. */
const schemas: Readonly<Record<string, OneSchema>> = {
  'a value of an enum of another type': {
    schema: '{ type: string, enum: [a, 1] }',
    problems: ['32 «1» 1 in "enum" is not of type "string"'],
  },
  'null in an enum': {
    schema: '{ type: string, enum: [a, null] }',
    problems: ['32 «null» Null in "enum" is not of type "string" | Write type: [string, "null"], or remove it'],
  },
  'a constant of another type': {
    schema: "{ type: integer, const: '1' }",
    problems: ['30 «\'1\'» "1" in "const" is not of type "integer"'],
  },
  'a default of another type': {
    schema: "{ type: integer, default: '5' }",
    problems: ['32 «\'5\'» "5" in "default" is not of type "integer"'],
  },
  'a default of another type than around it': {
    schema: '{ type: string, anyOf: [{ default: 5 }, { maxLength: 3 }] }',
    problems: ['41 «5» 5 in "default" is not of type "string"'],
  },
  'a default above the maximum': {
    schema: '{ type: integer, maximum: 3, default: 5 }',
    problems: ['44 «5» 5 in "default" is not valid: it must be <= 3'],
  },
  'a default that is not in the enum': {
    schema: '{ enum: [a, b], default: c }',
    problems: ['31 «c» "c" in "default" is not valid: it must be equal to one of the allowed values'],
  },
  'a default that a format rejects': {
    schema: '{ type: string, format: date, default: never }',
    problems: ['45 «never» "never" in "default" is not valid: it must match format "date"'],
  },
  'a default that a named schema rejects': {
    schema: '{ $ref: schema:///Small, default: 9 }',
    problems: ['40 «9» 9 in "default" is not valid: it must be <= 3'],
  },
  'a default that a definition of the schema rejects': {
    schema:
      "{ type: object, properties: { a: { $ref: '#/$defs/x', default: 7 } }, $defs: { x: { maximum: 5, type: number } } }",
    problems: ['69 «7» 7 in "default" is not valid: it must be <= 5'],
  },
  'values that may be rounded': {
    schema:
      '{ anyOf: [{ type: integer, default: 9007199254740993 }, { type: number, enum: [-9007199254740992, 1e300] }, { const: { a: [9007199254740993] } }] }',
    problems: ['9007199254740993', '-9007199254740992', '9007199254740993'].map(
      (text, index) =>
        `${[42, 85, 129][index]} «${text}» ${text} in "${['default', 'enum', 'const'][index]}" is beyond 2^53, where integers are rounded | Write it as a string`,
    ),
  },
  'limits beyond exact integers, as of 64 bits': {
    schema: '{ type: integer, format: int64, minimum: -9223372036854775808, maximum: 9223372036854775807 }',
    problems: [],
  },
  'a default without a required property': {
    schema: '{ type: object, required: [a], properties: { a: { type: integer } }, default: {} }',
    problems: [`84 «{}» The value in "default" is not valid: it must have required property 'a'`],
  },
  'a default whose own properties have defaults': {
    schema: '{ type: object, required: [a], properties: { a: { type: integer, default: 1 } }, default: {} }',
    problems: [],
  },
  'a value of an enum that a pattern rejects': {
    schema: '{ type: string, pattern: ^a, enum: [a1, b1] }',
    problems: ['46 «b1» "b1" in "enum" is not valid: it must match pattern "^a"'],
  },
  'a length above its maximum': {
    schema: '{ type: string, minLength: 5, maxLength: 3 }',
    problems: ['36 «maxLength» No value is valid: "minLength" (5) is greater than "maxLength" (3)'],
  },
  'a number of items above its maximum': {
    schema: '{ type: array, minItems: 5, maxItems: 3 }',
    problems: ['34 «maxItems» No value is valid: "minItems" (5) is greater than "maxItems" (3)'],
  },
  'a number of properties above its maximum': {
    schema: '{ type: object, minProperties: 5, maxProperties: 3 }',
    problems: ['40 «maxProperties» No value is valid: "minProperties" (5) is greater than "maxProperties" (3)'],
  },
  'a minimum above the maximum': {
    schema: '{ type: number, minimum: 5, maximum: 3 }',
    problems: ['34 «maximum» No value is valid: "minimum" (5) is greater than "maximum" (3)'],
  },
  'equal exclusive bounds': {
    schema: '{ type: number, minimum: 3, exclusiveMaximum: 3 }',
    problems: ['34 «exclusiveMaximum» No value is valid: "minimum" (3) is not below "exclusiveMaximum" (3)'],
  },
  'no integer between exclusive bounds': {
    schema: '{ type: integer, exclusiveMinimum: 1, exclusiveMaximum: 2 }',
    problems: [
      '44 «exclusiveMaximum» No value is valid: no integer is between "exclusiveMinimum" (1) and "exclusiveMaximum" (2)',
    ],
  },
  'a number between exclusive bounds': {
    schema: '{ type: number, exclusiveMinimum: 1, exclusiveMaximum: 2 }',
    problems: [],
  },
  'a minimum above the maximum of a named schema': {
    schema: '{ $ref: schema:///Small, type: integer, minimum: 4 }',
    problems: [': «maximum» No value is valid: "minimum" (4) is greater than "maximum" (3)'],
  },
  'a required property that another schema excludes': {
    schema:
      '{ allOf: [{ $ref: schema:///Base }, { type: object, properties: { b: true }, additionalProperties: false }] }',
    problems: [': «id» No value is valid: "id" is required, but "additionalProperties: false" excludes it'],
  },
  'a required property that no part of a closed schema declares': {
    schema: '{ type: object, required: [a], unevaluatedProperties: false }',
    problems: ['33 «a» No value is valid: "a" is required, but "unevaluatedProperties: false" excludes it'],
  },
  'a required property that a part of a closed schema may declare': {
    schema: '{ type: object, required: [a], anyOf: [{ properties: { a: true } }, true], unevaluatedProperties: false }',
    problems: [],
  },
  'a required property that an alternative leaves open': {
    schema:
      '{ type: object, required: [a], unevaluatedProperties: false, anyOf: [{ unevaluatedProperties: true }, { properties: { b: true } }] }',
    problems: [],
  },
  'more contained items than the list may have': {
    schema: '{ type: array, contains: { type: integer }, minContains: 3, maxItems: 2 }',
    problems: ['21 «contains» No value is valid: "contains" needs at least 3, but "maxItems" is 2'],
  },
  'two types at once': {
    schema: '{ allOf: [{ $ref: schema:///Base }, { type: string }] }',
    problems: ['44 «type» No value is valid: a value cannot be of type "object" and "string"'],
  },
  'two types of a required property': {
    schema: '{ allOf: [{ $ref: schema:///Base }, { type: object, properties: { id: { type: integer } } }] }',
    problems: ['78 «type» No value is valid: id: a value cannot be of type "string" and "integer"'],
  },
  'two types of an optional property': {
    schema:
      '{ type: object, allOf: [{ properties: { b: { type: string } } }, { properties: { b: { type: integer } } }] }',
    problems: [],
  },
  'a required property whose name is excluded': {
    schema:
      "{ type: object, required: [Abc], properties: { Abc: true }, propertyNames: { type: string, pattern: '^[a-z]+$' } }",
    problems: ['33 «Abc» No value is valid: "Abc" is required, but "propertyNames" excludes it'],
  },
  'alternatives that are all impossible': {
    schema: '{ $ref: schema:///Small, oneOf: [{ type: integer, minimum: 4 }, { type: string }] }',
    problems: [
      '31 «oneOf» No value is valid: no alternative of "oneOf" is possible: "minimum" (4) is greater than "maximum" (3)',
    ],
  },
  'an alternative that is possible': {
    schema: '{ $ref: schema:///Small, oneOf: [{ type: integer, minimum: 4 }, { type: integer }] }',
    problems: [],
  },
  'more items than a closed tuple has': {
    schema: '{ type: array, prefixItems: [{ type: string }], items: false, minItems: 1, allOf: [{ minItems: 2 }] }',
    problems: ['91 «minItems» No value is valid: "minItems" is 2, but "items: false" allows at most 1'],
  },
  'more properties than are declared': {
    schema: '{ type: object, properties: { a: true }, additionalProperties: false, minProperties: 2 }',
    problems: ['76 «minProperties» No value is valid: "minProperties" is 2, but the number of allowed properties is 1'],
  },
  'a schema that contains itself': {
    schema: '{ type: object, properties: { a: { $ref: schema:///A } } }',
    problems: [],
  },
}

const base = `  Base: { type: object, required: [id], properties: { id: { type: string } } }
  Small: { type: integer, maximum: 3 }
`

/** Uses all schemas, so that none is reported as unused. */
const route = `routes:
  /a:
    methods:
      GET: { scopes: [a], responses: { 200: A, 400: Base, 409: Small }, action: src/a.ts }
`

export const contradictionCases: readonly Case[] = Object.entries(schemas).map(([name, { schema, problems }]) => ({
  name,
  files: { 'waypost.yml': `schema:\n  A: ${schema}\n${base}${route}` },
  problems: problems.map((text) => {
    const [, column, marked = '', rest] = /^(\S+) («.*?») (.*)$/.exec(text)!
    const named = marked === '«id»' ? '3:36' : '4:27'
    return `waypost.yml:${column === ':' ? named : `2:${column}`} ${marked} ${code} ${rest}`
  }),
}))
