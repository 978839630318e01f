import type { JsonSchema } from '../../src/contract/index.ts'
import { makeTestRoute } from '../support/server.ts'

export const kb = 1024
export const mb = 1024 * kb

const fill = (item: string, bytes: number, separator = ',') =>
  Array(Math.floor(bytes / (item.length + separator.length)))
    .fill(item)
    .join(separator)

const fillKeys = (bytes: number) =>
  Array.from({ length: bytes / 11 - bytes / 100 }, (_, index) => `"k${index}":1`).join()

/** JSON that is expensive to read, of about this many bytes. */
export const nasty: Readonly<Record<string, (bytes: number) => string>> = {
  'deep arrays': (bytes) => '['.repeat(bytes),
  'deep arrays that end': (bytes) => '['.repeat(bytes / 2) + ']'.repeat(bytes / 2),
  'deep objects': (bytes) => fill('{"a":', bytes, ''),
  'an array of numbers': (bytes) => `[${fill('1', bytes)}]`,
  'an array of arrays': (bytes) => `[${fill('[]', bytes)}]`,
  'an array of objects': (bytes) => `{"a":[${fill('{"a":1}', bytes)}]}`,
  'an array of texts with escapes': (bytes) => `{"a":[${fill('"\\ud83d\\ude00"', bytes)}]}`,
  'an array of deep objects': (bytes) => `{"a":[${fill(`${'{"a":'.repeat(90)}{}${'}'.repeat(90)}`, bytes)}]}`,
  'many keys': (bytes) => `{${fillKeys(bytes)}}`,
  'many keys, and what makes a reader look for forbidden ones': (bytes) =>
    `{"a":[1e300,"\\ud83d\\ude00 \\\\u0000"],"constructor":{"b":1},"prototype":1,${fillKeys(bytes - 100)}}`,
  'a long text': (bytes) => `{"a":"${'a'.repeat(bytes)}"}`,
  'a long text of escapes': (bytes) => `{"a":"${fill('\\u0041', bytes, '')}"}`,
  'a number with many digits': (bytes) => `{"a":${'9'.repeat(bytes)}}`,
  'a number with many decimals': (bytes) => `{"a":0.${'9'.repeat(bytes)}}`,
  'huge and tiny numbers': (bytes) => `{"a":[${fill('1e308,1e-320', bytes)}]}`,
  'a prototype in front': (bytes) => `{"__proto__":1,"a":[${fill('{}', bytes)}]}`,
  'many prototypes': (bytes) => `[${fill('{"__proto__":1}', bytes)}]`,
  'prototypes that are no keys': (bytes) => fill('"__proto__" ', bytes, ''),
  blanks: (bytes) => `${' '.repeat(bytes)}{}`,
  'an array that never ends': (bytes) => `{"a":[${fill('{"a":1}', bytes)}`,
  'an error at the end': (bytes) => `{"constructor":1,"a":[${fill('{"a":1}', bytes)}],}`,
}

export const forms: Readonly<Record<string, (bytes: number) => string>> = {
  'many names': (bytes) => Array.from({ length: bytes / 8 }, (_, index) => `k${index}=`).join('&'),
  'one name many times': (bytes) => fill('resource=', bytes, '&'),
  'a long value': (bytes) => `token=${'a'.repeat(bytes)}`,
  'many escapes': (bytes) => `scope=${fill('%2c', bytes, '')}`,
  separators: (bytes) => '&'.repeat(bytes),
}

/** Requests of a project's own routes. */
export const schemas: Readonly<Record<string, JsonSchema>> = {
  anything: {},
  closed: { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: false },
  'closed-alternatives': {
    oneOf: Array.from({ length: 10 }, (_, index) => ({
      type: 'object',
      properties: { a: { const: index } },
      additionalProperties: false,
    })),
  },
  unique: {
    type: 'object',
    properties: { a: { type: 'array', items: { type: 'object', required: ['a'] }, uniqueItems: true } },
  },
  numbers: {
    type: 'object',
    properties: { a: { type: ['number', 'array'], items: { type: 'number', multipleOf: 0.01 } } },
  },
  pattern: { type: 'object', properties: { a: { type: 'string', pattern: '^(\\w+\\s?)*$' } } },
  formats: {
    type: 'object',
    properties: {
      a: { anyOf: ['email', 'uri', 'date-time', 'hostname', 'ipv6'].map((format) => ({ type: 'string', format })) },
    },
  },
  alternatives: {
    type: 'object',
    properties: {
      a: { type: 'array', items: { anyOf: Array.from({ length: 10 }, (_, index) => ({ required: [`x${index}`] })) } },
    },
  },
  keys: {
    type: 'object',
    patternProperties: { '^k(\\d+)+x$': { type: 'string' }, '^[a-z]+\\d*y$': {} },
    propertyNames: { pattern: '^[a-z0-9]*$' },
  },
  'many-patterns': {
    type: 'object',
    patternProperties: Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`^[a-z]+\\d*x{${index}}$`, {}])),
  },
  'recursive-alternatives': {
    $defs: {
      node: {
        oneOf: [
          { type: 'object', properties: { a: { $ref: '#/$defs/node' } }, required: ['b'] },
          { type: 'object', properties: { a: { $ref: '#/$defs/node' } } },
          { type: 'array', items: { $ref: '#/$defs/node' } },
        ],
      },
    },
    $ref: '#/$defs/node',
  },
  'recursive-defaults': {
    $defs: {
      node: {
        properties: { a: { $ref: '#/$defs/node' }, b: { type: 'string', default: 'b' } },
        items: { $ref: '#/$defs/node' },
      },
    },
    $ref: '#/$defs/node',
  },
  recursive: {
    $defs: { node: { properties: { a: { $ref: '#/$defs/node' } }, items: { $ref: '#/$defs/node' } } },
    $ref: '#/$defs/node',
  },
}

export const ownRoutes = Object.entries(schemas).map(([name, body]) =>
  makeTestRoute(`/own/${name}`, { method: 'POST', public: true, request: body }),
)
