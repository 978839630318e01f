import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatCurl } from '../../bin/cli/format-curl.ts'
import type { JsonSchema } from '../../src/contract/index.ts'
import { suggestRequests } from '../../src/project/suggest-requests.ts'
import type { ManifestMethod, ManifestRoute } from '../../src/release/index.ts'

const method = (name: string, more: Partial<ManifestMethod> = {}): ManifestMethod => ({
  method: name,
  public: false,
  scopes: ['todo'],
  responses: {},
  action: { file: 'src/a.ts', artifact: '' },
  ...more,
})
const schemas = {
  'Todo-Input': {
    type: 'object',
    required: ['title', 'due', 'kind'],
    properties: {
      title: { type: 'string', minLength: 1, maxLength: 64 },
      due: { type: 'string', format: 'date' },
      kind: { enum: ['private', 'work'] },
      note: { type: 'string' },
    },
  },
}
const suggest = (...routes: ManifestRoute[]) => suggestRequests({ routes, schemas })

test('an open GET without parameters comes first, then a POST to the same path with a body that fits', () => {
  const found = suggest(
    { path: '/a/:id', methods: [method('GET', { public: true })] },
    { path: '/order', methods: [method('POST')] },
    {
      path: '/todo',
      methods: [method('GET', { public: true }), method('POST', { request: { $ref: 'schema:///Todo-Input' } })],
    },
  )
  assert.deepEqual(found, [
    { method: 'GET', path: '/todo', needsToken: false, body: undefined },
    { method: 'POST', path: '/todo', needsToken: true, body: '{"title":"title","due":"2026-01-31","kind":"private"}' },
  ])
})

test('required path and query parameters are filled in', () => {
  const params = { type: 'object', required: ['name'], properties: { name: { type: 'string' } } }
  const query = {
    type: 'object',
    required: ['from'],
    properties: { from: { type: 'integer', exclusiveMinimum: 4 }, to: { type: 'integer' } },
  }
  assert.deepEqual(suggest({ path: '/hello/:name', methods: [method('GET', { public: true, params, query })] }), [
    { method: 'GET', path: '/hello/name?from=5', needsToken: false, body: undefined },
  ])
})

test('examples of the author are used, and parameters that no simple value fits are left out', () => {
  const body = (schema: JsonSchema) => suggest({ path: '/a', methods: [method('POST', { request: schema })] })[0]?.body
  const text = (schema: JsonSchema) => body({ type: 'object', required: ['a'], properties: { a: schema } })
  assert.equal(body({ type: 'object', examples: [{ title: 'Buy milk' }] }), '{"title":"Buy milk"}')
  assert.equal(text({ type: 'string', default: 'b' }), '{"a":"b"}')
  assert.equal(text({ type: 'array', minItems: 1, items: { type: 'boolean' } }), '{"a":[true]}')
  assert.equal(text({ type: ['string', 'null'] }), '{"a":"a"}')
  assert.equal(text({ type: 'string', pattern: '^[A-Z]{3}$' }), undefined)
  assert.equal(text({ oneOf: [{ type: 'string' }] }), undefined)
  assert.equal(suggest({ path: '/a', methods: [method('POST', { request: { $ref: 'schema:///Loop' } })] }).length, 0)
  const loop = { Loop: { $ref: 'schema:///Loop' } }
  const routes = [{ path: '/a', methods: [method('POST', { request: { $ref: 'schema:///Loop' } })] }]
  assert.deepEqual(suggestRequests({ routes, schemas: loop }), [])
})

test('a request is quoted for a shell', () => {
  const to = { url: 'http://localhost:3000', user: 'dev' }
  assert.deepEqual(formatCurl({ method: 'GET', path: '/todo?a=1&b=2', needsToken: false, body: undefined }, to), [
    `curl 'localhost:3000/todo?a=1&b=2'`,
  ])
  const post = { method: 'POST', path: '/todo', needsToken: true, body: `{"a":"it's"}` }
  const token = '-H "Authorization: Bearer $(npx waypost token:issue --user dev)"'
  const body = String.raw`--json '{"a":"it'\''s"}'`
  assert.deepEqual(formatCurl(post, to), [`curl localhost:3000/todo ${token} ${body}`])
  assert.deepEqual(formatCurl(post, { ...to, width: 100 }), [`curl localhost:3000/todo ${token} \\`, body])
  assert.deepEqual(formatCurl(post, { ...to, width: 60 }), [`curl localhost:3000/todo \\`, `${token} \\`, body])
  assert.match(formatCurl(post, { ...to, token: 'e.y.J' })[0]!, / -H "Authorization: Bearer e\.y\.J" --json /)
})
