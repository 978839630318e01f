import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonSchema } from '../../../src/contract/index.ts'
import type { Manifest, ManifestMethod } from '../../../src/release/index.ts'
import { makeManifest, object, tell } from './manifests.ts'

const text: JsonSchema = { type: 'string' }
const readOnly: JsonSchema = { type: 'string', readOnly: true }
const writeOnly: JsonSchema = { type: 'string', writeOnly: true }
const number: JsonSchema = { type: 'number' }
const integer: JsonSchema = { type: 'integer' }
const nullable: JsonSchema = { type: ['string', 'null'] }

type Schemas = readonly [before: JsonSchema, after: JsonSchema]

/** The reported changes from one schema to another, for a request and for a response. */
const schemas: readonly (readonly [string, Schemas, request: string[], response: string[]])[] = [
  [
    'a field that becomes read-only',
    [object({ a: text }), object({ a: readOnly })],
    ['! "a" is no longer accepted'],
    ['rewritten without a change of meaning'],
  ],
  [
    'a required field that is read-only no longer',
    [object({ a: readOnly }, ['a']), object({ a: text }, ['a'])],
    ['! "a" is now required'],
    ['rewritten without a change of meaning'],
  ],
  [
    'a field that becomes write-only',
    [object({ a: text }, ['a']), object({ a: writeOnly }, ['a'])],
    ['rewritten without a change of meaning'],
    ['! "a" removed'],
  ],
  [
    'a required field that is write-only',
    [object({ b: text }), object({ a: writeOnly, b: text }, ['a'])],
    ['! "a" added and required'],
    ['rewritten without a change of meaning'],
  ],
  [
    'a read-only field less',
    [object({ a: readOnly, b: text }), object({ b: text })],
    ['"a" removed'],
    ['! "a" removed'],
  ],
  [
    'a write-only field less',
    [object({ a: writeOnly, b: text }), object({ b: text })],
    ['"a" removed'],
    ['rewritten without a change of meaning'],
  ],
  [
    'a required field',
    [object({ a: text }), object({ a: text, b: text }, ['b'])],
    ['! "b" added and required'],
    ['"b" added'],
  ],
  ['an optional field', [object({ a: text }), object({ a: text, b: text })], ['"b" added'], ['"b" added']],
  ['a field less', [object({ a: text, b: text }), object({ a: text })], ['"b" removed'], ['! "b" removed']],
  [
    'a required field less',
    [object({ a: text, b: text }, ['b']), object({ a: text })],
    ['"b" removed'],
    ['! "b" removed'],
  ],
  [
    'a field that becomes required',
    [object({ a: text }), object({ a: text }, ['a'])],
    ['! "a" is now required'],
    ['"a" is now always present'],
  ],
  [
    'a field that becomes optional',
    [object({ a: text }, ['a']), object({ a: text })],
    ['"a" is now optional'],
    ['! "a" may now be absent'],
  ],
  [
    'another type',
    [object({ a: text }), object({ a: integer })],
    ['! "a" is integer, was string'],
    ['! "a" is integer, was string'],
  ],
  [
    'integer from number',
    [object({ a: number }), object({ a: integer })],
    ['! "a" is integer, was number'],
    ['"a" is integer, was number'],
  ],
  [
    'number from integer',
    [object({ a: integer }), object({ a: number })],
    ['"a" is number, was integer'],
    ['! "a" is number, was integer'],
  ],
  ['null too', [object({ a: text }), object({ a: nullable })], ['"a" may now be null'], ['! "a" may now be null']],
  [
    'null no longer',
    [object({ a: nullable }), object({ a: text })],
    ['! "a" may no longer be null'],
    ['"a" may no longer be null'],
  ],
  [
    'null by an alternative',
    [object({ a: text }), object({ a: { anyOf: [text, { type: 'null' }] } })],
    ['"a" may now be null'],
    ['! "a" may now be null'],
  ],
  [
    'a value more',
    [object({ a: { enum: ['x', 'y'] } }), object({ a: { enum: ['x', 'y', 'z'] } })],
    ['"a" now also accepts "z"'],
    ['! "a" may now be "z"'],
  ],
  [
    'a value less',
    [object({ a: { enum: ['x', 'y'] } }), object({ a: { enum: ['x'] } })],
    ['! "a" no longer accepts "y"'],
    ['"a" is no longer "y"'],
  ],
  [
    'only some values',
    [object({ a: text }), object({ a: { type: 'string', enum: ['x'] } })],
    ['! "a" now accepts only "x"'],
    ['"a" is now only "x"'],
  ],
  [
    'a shorter text',
    [object({ a: { type: 'string', maxLength: 64 } }), object({ a: { type: 'string', maxLength: 32 } })],
    ['! "a" maxLength 32, was 64'],
    ['"a" maxLength 32, was 64'],
  ],
  [
    'a limit that is gone',
    [object({ a: { type: 'integer', maximum: 9 } }), object({ a: integer })],
    ['"a" maximum 9 removed'],
    ['! "a" maximum 9 removed'],
  ],
  [
    'a pattern',
    [object({ a: text }), object({ a: { type: 'string', pattern: '^x' } })],
    ['! "a" pattern "^x" added'],
    ['"a" pattern "^x" added'],
  ],
  [
    'a format',
    [object({ a: { type: 'string', format: 'uuid' } }), object({ a: text })],
    ['"a" format "uuid" removed'],
    ['! "a" format "uuid" removed'],
  ],
  [
    'no other fields',
    [object({ a: text }), { ...(object({ a: text }) as object), additionalProperties: false }],
    ['! no longer accepts other fields'],
    ['no longer has other fields'],
  ],
  [
    'a field of a closed object',
    [
      { ...(object({ a: text }) as object), additionalProperties: false },
      { ...(object({ a: text, b: text }) as object), additionalProperties: false },
    ],
    ['"b" added'],
    ['! "b" added, where no other fields were allowed'],
  ],
  [
    'something deep',
    [
      object({ a: { type: 'array', items: object({ b: { type: 'array', items: text } }) } }),
      object({ a: { type: 'array', items: object({ b: { type: 'array', items: integer } }) } }),
    ],
    ['! "a[].b[]" is integer, was string'],
    ['! "a[].b[]" is integer, was string'],
  ],
  [
    'an alternative more',
    [{ oneOf: [text, integer] }, { oneOf: [text, integer, { type: 'boolean' }] }],
    ['now accepts more alternatives'],
    ['! now has more alternatives'],
  ],
  [
    'the same in other words',
    [object({ a: { type: ['string'], description: 'x' } }), { allOf: [object({ a: text })] }],
    ['rewritten without a change of meaning'],
    ['rewritten without a change of meaning'],
  ],
]

for (const [what, [before, after], request, response] of schemas) {
  test(`${what} in a request`, () => {
    assert.deepEqual(
      tell(makeManifest({ request: before }), makeManifest({ request: after })),
      label('request', request),
    )
  })
  test(`${what} in a response`, () => {
    const responding = (schema: JsonSchema) => makeManifest({ responses: { 200: schema } })
    assert.deepEqual(tell(responding(before), responding(after)), label('response 200', response))
  })
}

function label(part: string, lines: readonly string[]): string[] {
  return lines.map((line) => line.replace(/^(! )?/, `$1${part}: `))
}

type Method = Partial<ManifestMethod>
const few = { limit: 10, windowMs: 60_000, by: 'principal' } as const

/** The reported changes of a method. */
const methods: readonly (readonly [string, Method, Method, string[], Partial<Manifest>?])[] = [
  ['made private', {}, { public: false, scopes: ['order'] }, ['! is now private, scope order']],
  ['made public', { public: false, scopes: ['order'] }, {}, ['is now public']],
  [
    'that needs another scope',
    { public: false, scopes: ['a'] },
    { public: false, scopes: ['b'] },
    ['! needs scope b, was scope a'],
  ],
  [
    'that takes another scope too',
    { public: false, scopes: ['a'] },
    { public: false, scopes: ['b', 'a'] },
    ['needs scope b or a, was scope a'],
  ],
  [
    'that needs a scope',
    { public: false, scopes: [] },
    { public: false, scopes: ['a'] },
    ['! needs scope a, was any valid token'],
  ],
  ['with a rate', {}, { rate: 'few' }, ['! rate: 10 per 60 s per principal, was none'], { rates: { few } }],
  ['without its rate', { rate: 'few' }, {}, ['rate: removed'], { rates: { few } }],
  [
    'with a higher rate',
    { rate: 'few' },
    { rate: 'many' },
    ['rate: 99 per 60 s per principal, was 10 per 60 s per principal'],
    { rates: { few, many: { ...few, limit: 99 } } },
  ],
  [
    'with another status',
    { responses: { 200: true } },
    { responses: { 201: true } },
    ['! response 200: removed', 'response 201: added'],
  ],
  [
    'whose class describes more',
    {},
    {
      http: {
        headers: { 'If-Match': 'required' },
        responses: { 200: { headers: ['ETag'] }, 412: { type: 'application/problem+json' } },
      },
    },
    [],
  ],
  [
    'whose class describes more errors and headers than before',
    { http: { headers: { 'If-Match': 'optional' }, responses: {} } },
    {
      http: {
        headers: { 'If-Match': 'optional', 'If-None-Match': 'optional' },
        responses: { 200: { headers: ['ETag'] }, 502: { type: 'application/problem+json' } },
      },
    },
    [],
  ],
  [
    'that needs a header',
    { http: { headers: { 'If-Match': 'optional' } } },
    { http: { headers: { 'If-Match': 'required' } } },
    ['! request: the header If-Match is now required'],
  ],
  [
    'without its versions',
    {
      http: {
        headers: { 'If-Match': 'required' },
        responses: { 200: { headers: ['ETag'] }, 404: { headers: ['X-Own'] }, 412: {} },
      },
    },
    { http: {} },
    [
      '! request: the header If-Match is now ignored',
      '! response 200: the header ETag is no longer sent',
      'response 404: the header X-Own is no longer sent',
    ],
  ],
  [
    'without an error that it had',
    { responses: { 200: true, 409: true } },
    { responses: { 200: true } },
    ['response 409: removed'],
  ],
  [
    'that answers another status by default',
    { responses: { 201: true } },
    { responses: { 200: true, 201: true } },
    ['response 200: added', '! response: returns 200, was 201'],
  ],
  ['that needs a body', {}, { request: { type: 'object' } }, ['! request: a body is now required']],
  [
    'with a query parameter that is required',
    { query: object({ page: integer }) },
    { query: object({ page: integer, size: integer }, ['size']) },
    ['! query: "size" added and required'],
  ],
  [
    'with a query parameter that was a number and is any text',
    { query: object({ page: integer }) },
    { query: object({ page: text }) },
    ['query: "page" is string, was integer'],
  ],
  [
    'with another default',
    { query: object({ page: { type: 'integer', default: 0 } }) },
    { query: object({ page: { type: 'integer', default: 1 } }) },
    ['query: "page" default 1, was 0'],
  ],
  ['with other code', {}, { action: { artifact: 'bbbb', file: 'src/order.ts' } }, ['code of src/order.ts']],
  [
    'whose action is configured otherwise',
    { action: { class: 'sql', config: { password: 'old' } } },
    { action: { class: 'sql', config: { password: 'new' } } },
    ['config of sql: password'],
  ],
  [
    'whose action is configured otherwise in several places',
    {
      action: { class: 'sql', config: { embed: { a: { limit: 1, sort: ['x'] }, b: { from: 'B' } }, where: { x: 1 } } },
    },
    {
      action: { class: 'sql', config: { embed: { a: { limit: 2, sort: ['y'] }, c: { from: 'B' } }, where: { x: 1 } } },
    },
    ['config of sql: embed.a.limit, embed.a.sort, embed.b, embed.c'],
  ],
  [
    'whose class derives something else',
    { action: { class: 'sql', config: { a: 1 }, plan: { format: 1 } } },
    { action: { class: 'sql', config: { a: 1 }, plan: { format: 2 } } },
    ['sql works differently, because tables, other actions or the class changed'],
  ],
  [
    'whose class derives the same in another order',
    {
      action: { class: 'sql', config: { a: 1 }, plan: { format: 1, types: { a: 1, b: 2 } } },
      responses: { 200: object({ a: text, b: text }) },
    },
    {
      action: { class: 'sql', config: { a: 1 }, plan: { types: { b: 2, a: 1 }, format: 1 } },
      responses: { 200: object({ b: text, a: text }) },
    },
    [],
  ],
  ['with a timeout', {}, { timeoutMs: 500 }, ['timeout (ms) 500 added']],
  [
    'with ranges of errors',
    { responses: { 200: true, 404: object({ a: text }) } },
    { responses: { 200: true, '4XX': object({ a: integer }), default: true } },
    ['! response 404: "a" is integer, was string', 'response 4XX: added', 'response default: added'],
  ],
  [
    'with another operationId',
    { operationId: 'listTodos' },
    { operationId: 'findTodos' },
    ['operationId "findTodos", was "listTodos", which renames the function of generated clients'],
  ],
]

for (const [what, before, after, told, more] of methods) {
  test(`a method ${what}`, () => {
    assert.deepEqual(tell(makeManifest(before, more), makeManifest(after, more)), told)
  })
}

test('renaming a path parameter does not change the route', () => {
  const at = (path: string, name: string, schema: JsonSchema): Manifest => {
    const { routes, ...rest } = makeManifest({ params: object({ [name]: schema }, [name]) })
    return { ...rest, routes: [{ ...routes[0]!, path }] }
  }
  assert.deepEqual(tell(at('/order/:id', 'id', text), at('/order/:order_id', 'order_id', text)), [
    'path: "id" renamed to "order_id"',
  ])
  assert.deepEqual(tell(at('/order/:id', 'id', text), at('/order/:order_id', 'order_id', integer)), [
    'path: "id" renamed to "order_id"',
    '! path: "order_id" is integer, was string',
  ])
})
