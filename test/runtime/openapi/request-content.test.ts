import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeOpenApi } from '../../../src/runtime/index.ts'
import { makeMethod } from '../../build/project.ts'

const mb = 1024 ** 2
const multipart = {
  type: 'object',
  required: ['cover'],
  properties: {
    title: { type: 'string' },
    cover: { type: 'file', description: 'The first page.', types: ['image/png', 'image/jpeg'], maxSize: 5 * mb },
    pages: { type: 'array', maxItems: 3, items: { type: 'file', types: ['image/png'], maxSize: 1000 } },
    other: { type: 'file', maxSize: 1024 },
    meta: { $ref: 'schema:///Meta' },
  },
}

// oxlint-disable-next-line typescript/no-explicit-any -- the type of a document
function describe(requestTypes: object, request?: object): any {
  const method = makeMethod('POST', 'a.ts', { requestTypes, ...(request && { request }) } as never)
  const at = { file: 'waypost.yml', line: 1, column: 1 }
  const api = {
    routes: [{ path: '/book', methods: [method], at }],
    schemas: { Meta: { type: 'object' } },
    scopes: {},
    rates: {},
  }
  const { paths } = makeOpenApi(api, {}) as any // oxlint-disable-line typescript/no-explicit-any
  return paths['/book'].post.requestBody
}

test('files are binary strings, with their types in encoding and their limits as text', () => {
  const { required, content } = describe({ 'multipart/form-data': { schema: multipart } })
  const { schema, encoding } = content['multipart/form-data']
  const { cover, pages, other, meta } = schema.properties
  const binary = { type: 'string', format: 'binary' }
  assert.equal(required, true)
  assert.deepEqual(encoding, { cover: { contentType: 'image/png, image/jpeg' }, pages: { contentType: 'image/png' } })
  assert.deepEqual(cover, {
    ...binary,
    contentMediaType: 'application/octet-stream',
    description: 'The first page. At most 5mb; image/png or image/jpeg',
    'x-max-size': 5 * mb,
  })
  const page = { ...binary, contentMediaType: 'image/png', description: 'At most 1000b; image/png', 'x-max-size': 1000 }
  assert.deepEqual(pages, { type: 'array', maxItems: 3, items: page })
  assert.equal(other.description, 'At most 1kb')
  assert.deepEqual(meta, { $ref: '#/components/schemas/Meta' })
})

test('JSON is the first of several media types, and has an example', () => {
  const json = { type: 'object', required: ['a'], properties: { a: { type: 'integer' } } }
  const { content } = describe(
    { 'image/png': {}, 'text/plain': { schema: { type: 'string' } }, 'application/json': { schema: json } },
    json,
  )
  assert.deepEqual(Object.keys(content), ['application/json', 'image/png', 'text/plain'])
  assert.deepEqual(content['application/json'].schema, json)
  assert.equal(typeof content['application/json'].example.a, 'number')
  assert.deepEqual(content['image/png'].schema, { type: 'string', format: 'binary', contentMediaType: 'image/png' })
  assert.deepEqual(content['text/plain'].schema, { type: 'string' })
})
