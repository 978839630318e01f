import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonSchema } from '../../../src/contract/index.ts'
import type { ManifestMediaType, ManifestMethod } from '../../../src/release/index.ts'
import { makeManifest, object, tell } from './manifests.ts'

const text: JsonSchema = { type: 'string' }
const integer: JsonSchema = { type: 'integer' }
const mb = 1024 ** 2
const file = (maxSize: number, types?: readonly string[]): JsonSchema => ({
  type: 'file',
  ...(types && { types }),
  maxSize,
})
const files = (maxItems: number, maxSize = mb): JsonSchema => ({ type: 'array', maxItems, items: file(maxSize) })
const multipart = (properties: Readonly<Record<string, JsonSchema>>, required: readonly string[] = []) => ({
  'multipart/form-data': { schema: object(properties, required) },
})
const json = { 'application/json': { schema: object({ a: text }) } }

type Types = Readonly<Record<string, ManifestMediaType>>

function tellRequest(before: Types, after: Types): string[] {
  return tell(makeManifest({ requestTypes: before }), makeManifest({ requestTypes: after }))
}

const requests: readonly (readonly [string, Types, Types, string[]])[] = [
  ['a media type less', { 'image/png': {}, ...json }, json, ['! request: image/png is no longer accepted']],
  ['a media type more', json, { 'image/png': {}, ...json }, ['request: image/png is accepted too']],
  [
    'another JSON',
    json,
    { 'application/json': { schema: object({ a: integer }) } },
    ['! request: "a" is integer, was string'],
  ],
  [
    'a smaller file',
    multipart({ f: file(2 * mb) }),
    multipart({ f: file(mb) }),
    ['! request: multipart/form-data: maxSize of "f" 1mb, was 2mb'],
  ],
  [
    'a larger file',
    multipart({ f: file(mb) }),
    multipart({ f: file(2 * mb) }),
    ['request: multipart/form-data: maxSize of "f" 2mb, was 1mb'],
  ],
  [
    'fewer types of a file',
    multipart({ f: file(mb, ['image/png', 'image/gif']) }),
    multipart({ f: file(mb, ['image/png']) }),
    ['! request: multipart/form-data: types of "f" image/png; before: image/png, image/gif'],
  ],
  [
    'types of a file that had none',
    multipart({ f: file(mb) }),
    multipart({ f: file(mb, ['image/png']) }),
    ['! request: multipart/form-data: types of "f" image/png; before: any'],
  ],
  [
    'more types of a file',
    multipart({ f: file(mb, ['image/png']) }),
    multipart({ f: file(mb) }),
    ['request: multipart/form-data: types of "f" any; before: image/png'],
  ],
  [
    'fewer files',
    multipart({ f: files(5) }),
    multipart({ f: files(4) }),
    ['! request: multipart/form-data: "f" maxItems 4, was 5'],
  ],
  [
    'one file instead of a list',
    multipart({ f: files(5) }),
    multipart({ f: file(mb) }),
    [
      'request: multipart/form-data: "f" is anything, was array',
      'request: multipart/form-data: "f" maxItems 5 removed',
      '! request: multipart/form-data: "f" is now one file',
    ],
  ],
  [
    'a required file',
    multipart({ a: text }),
    multipart({ a: text, f: file(mb) }, ['f']),
    ['! request: multipart/form-data: "f" added and required', 'request: multipart/form-data: the file "f" added'],
  ],
  [
    'a file less',
    multipart({ f: file(mb) }),
    multipart({}),
    ['request: multipart/form-data: "f" removed', '! request: multipart/form-data: "f" is no longer a file'],
  ],
  [
    'a text less strict, because it is converted',
    { 'application/x-www-form-urlencoded': { schema: object({ a: integer }) } },
    { 'application/x-www-form-urlencoded': { schema: object({ a: text }) } },
    ['request: application/x-www-form-urlencoded: "a" is string, was integer'],
  ],
  ['a text instead of a stream', { 'text/csv': {} }, { 'text/csv': { schema: text } }, []],
]

for (const [name, before, after, expected] of requests)
  test(`a request: ${name}`, () => assert.deepEqual(tellRequest(before, after), expected))

test('a method whose request had no content', () => {
  const tellChange = (before: Partial<ManifestMethod>, after: Partial<ManifestMethod>) =>
    tell(makeManifest(before), makeManifest(after))
  const schema = object({ a: text })
  const withForm = { ...json, 'application/x-www-form-urlencoded': { schema } }
  assert.deepEqual(tellChange({ request: schema }, { request: schema, requestTypes: withForm }), [
    'request: application/x-www-form-urlencoded is accepted too',
  ])
  assert.deepEqual(tellChange({ request: schema }, { requestTypes: { 'image/png': {} } }), [
    '! request: application/json is no longer accepted',
    'request: image/png is accepted too',
  ])
})

test('a response: a media type less is breaking for successes only', () => {
  const tellResponse = (before: ManifestMethod['responseTypes'], after: ManifestMethod['responseTypes']) =>
    tell(
      makeManifest({ responses: {}, ...(before && { responseTypes: before }) }),
      makeManifest({ responses: {}, ...(after && { responseTypes: after }) }),
    )
  const both = { 'text/csv': {}, 'text/plain': {} }
  assert.deepEqual(tellResponse({ 200: both, 400: both }, { 200: { 'text/csv': {} }, 400: { 'text/csv': {} } }), [
    '! response 200: text/plain is no longer sent',
    'response 400: text/plain is no longer sent',
  ])
  assert.deepEqual(tellResponse({ 200: { 'text/csv': {} } }, { 200: both }), ['response 200: text/plain added'])
  const events = (schema: JsonSchema) => ({ 200: { 'text/event-stream': { schema } } })
  assert.deepEqual(tellResponse(events(object({ a: text }, ['a'])), events(object({}))), [
    '! response 200: text/event-stream: "a" removed',
  ])
})

test('the body limit of a method', () => {
  const tellLimit = (before: number | undefined, after: number | undefined, config = {}) =>
    tell(
      makeManifest(before === undefined ? {} : { bodyLimit: before }, { config }),
      makeManifest(after === undefined ? {} : { bodyLimit: after }, { config }),
    )
  assert.deepEqual(tellLimit(2 * mb, mb), ['! body_limit 1mb, was 2mb'])
  assert.deepEqual(tellLimit(mb, 2 * mb), ['body_limit 2mb, was 1mb'])
  assert.deepEqual(tellLimit(undefined, mb), [])
  assert.deepEqual(tellLimit(2 * mb, undefined), ['! body_limit 1mb, was 2mb'])
  assert.deepEqual(tellLimit(undefined, mb, { body_limit: '3mb' }), ['! body_limit 1mb, was 3mb'])
  assert.deepEqual(tellLimit(undefined, mb, { body_limit: '${env.L}' }), ['! body_limit 1mb, was that of config'])
})
