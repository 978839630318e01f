import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ActionClass, ActionUse } from 'waypost'
import { dispatch } from '../src/dispatch.ts'
import { proxy } from '../src/proxy.ts'
import { respond } from '../src/respond.ts'

const use: ActionUse = {
  method: 'POST',
  path: '/order/:id',
  public: false,
  declared: { responses: {} },
  schemas: {},
  events: {},
  connections: { Stock: 'http', Orders: 'sqlite' },
  databases: { Orders: 'sqlite' },
  actions: {},
  methods: {},
}

const tables = {}
const describe = (one: ActionClass, config: object, more: Partial<ActionUse> = {}) =>
  one.describe!(config, { ...use, ...more }, tables)
/** What a proxy describes for every method. */
const passing = {
  responses: {
    502: { type: 'application/problem+json' },
    504: { type: 'application/problem+json' },
    default: { type: '*/*', description: 'The response of the service' },
  },
}
const problemsOf = (one: ActionClass, config: object, more: Partial<ActionUse> = {}) =>
  (describe(one, config, more).problems ?? []).map(({ at, message }) => `${at} ${message}`)

test('respond describes the structure of its body', () => {
  const body = { name: 'x', list: [1, 2], mixed: [1, 'a'], none: null, part: 0.5, empty: [] }
  assert.deepEqual(describe(respond, { body }).responses, {
    200: {
      type: 'object',
      required: ['name', 'list', 'mixed', 'none', 'part', 'empty'],
      properties: {
        name: { type: 'string' },
        list: { type: 'array', items: { type: 'integer' } },
        mixed: { type: 'array', items: {} },
        none: { type: 'null' },
        part: { type: 'number' },
        empty: { type: 'array', items: {} },
      },
    },
  })
  assert.deepEqual(describe(respond, {}).responses, { 204: { type: 'null' } })
  assert.equal(describe(respond, { text: 'x', type: 'text/plain' }).responses, undefined)
  assert.equal(describe(respond, { status: 302, headers: { location: '/' } }).responses, undefined)
})

test('respond describes its status, its content type and the names of its headers', () => {
  const httpOf = (config: object) => describe(respond, config).http?.responses
  assert.deepEqual(httpOf({ body: 1 }), { 200: {} })
  assert.deepEqual(httpOf({ text: 'x', type: 'text/html; charset=utf-8' }), { 200: { type: 'text/html' } })
  assert.deepEqual(httpOf({ text: 'x', type: 'anything' }), { 200: { type: '*/*' } })
  assert.deepEqual(httpOf({ status: 302, headers: { location: '/' } }), { 302: { headers: ['location'] } })
})

test('respond reports bodies and headers that cannot be sent', () => {
  assert.deepEqual(problemsOf(respond, { body: 1, text: 'x' }), ['/text "body" and "text" cannot be used together'])
  assert.deepEqual(problemsOf(respond, { status: 204, body: 1 }), ['/body A 204 response has no body'])
  assert.deepEqual(problemsOf(respond, { status: 304, text: 'x' }), ['/text A 304 response has no body'])
  assert.deepEqual(problemsOf(respond, { status: 200 }), ['/status A 200 response needs a body'])
  assert.deepEqual(problemsOf(respond, { status: 302, headers: { Location: '/other' } }), [])
  const headers = {
    'Content-Type': 'a/b',
    'Transfer-Encoding': 'chunked',
    'a b': 'x',
    'x/y~z': 'x',
    ok: 'a\nb',
    good: 'x',
  }
  assert.deepEqual(
    (describe(respond, { body: 1, headers }).problems ?? []).map(({ at }) => at),
    ['/headers/Content-Type', '/headers/Transfer-Encoding', '/headers/a b', '/headers/x~1y~0z', '/headers/ok'],
  )
})

test('dispatch takes the schema of its event as that of the request', () => {
  const schema = { type: 'object', required: ['id'] }
  const described = describe(dispatch, { event: 'paid' }, { events: { paid: { schema } } })
  assert.deepEqual(described.request, schema)
  assert.deepEqual(Object.keys(described.responses!), ['202'])
  assert.deepEqual(described.problems, [])
  assert.equal(describe(dispatch, { event: 'toString' }).request, undefined)
})

test('dispatch reports methods without a body, and a second schema of the body', () => {
  for (const method of ['GET', 'DELETE'])
    assert.deepEqual(problemsOf(dispatch, { event: 'paid' }, { method }), [
      ` A ${method} request has no body that could be dispatched`,
    ])
  const declared = { request: {}, responses: {} }
  assert.deepEqual(problemsOf(dispatch, { event: 'paid' }, { declared }), [
    '/event The body is validated against the schema of the event "paid"',
  ])
  assert.throws(
    () =>
      dispatch.make({ config: { event: 'paid' }, plan: undefined, use: undefined, databases: {}, host: {} as never }),
    /cronjob/,
  )
})

const proxied = { connection: 'Stock', path: '/items/:id', headers: { request: [], response: [] } }

test('proxy passes on the query parameters that it lists, or that the method declares', () => {
  const properties = { page: {}, size: {} }
  const schemas = { Sort: { properties: { sort: {} } }, 'a b': { $ref: 'schema:///Sort' } }
  const parameters = { properties, allOf: [{ $ref: 'schema:///a%20b' }] }
  const declared = { parameters, responses: { 200: {}, 204: { type: 'null' } } }
  assert.deepEqual(describe(proxy, proxied, { declared, schemas }), {
    problems: [],
    plan: { format: 1, query: ['page', 'size', 'sort'], json: ['200'] },
    http: passing,
  })
  assert.deepEqual(describe(proxy, { ...proxied, query: ['page'] }), {
    problems: [],
    parameters: { type: 'object', properties: { page: { type: 'string' } } },
    plan: { format: 1, query: ['page'], json: [] },
    http: passing,
  })
  assert.deepEqual(problemsOf(proxy, { ...proxied, query: ['page', 'pages'] }, { declared, schemas }), [
    '/query/1 "pages" is not a query parameter of the method',
  ])
  const { plan } = describe(proxy, proxied, { dispatch: 'paid' })
  assert.deepEqual(plan, { format: 1, query: [], json: ['200', '201'] })
})

test('proxy describes the headers that it passes on', () => {
  const headers = { request: ['If-None-Match', 'Accept'], response: ['ETag'] }
  const declared = { responses: { 200: {} } }
  const { http } = describe(proxy, { ...proxied, headers }, { declared })
  assert.deepEqual(http?.headers, { 'If-None-Match': 'optional' })
  assert.deepEqual(http?.responses?.['200'], { headers: ['ETag'] })
  assert.deepEqual(http?.responses?.['default']?.headers, ['ETag'])
})

test('proxy reports connections of other classes, and paths that cannot be filled in', () => {
  for (const connection of ['Orders', 'System'])
    assert.deepEqual(problemsOf(proxy, { ...proxied, connection }), [
      `/connection The connection "${connection}" does not have the class "http"`,
    ])
  const cases: Readonly<Record<string, RegExp>> = {
    '/items/:sku': /":sku" is not a parameter of the path \/order\/:id/,
    '/items/../x': /"\." or "\.\."/,
    '/./items': /"\." or "\.\."/,
    '/items/%2e%2E/x': /"\." or "\.\."/,
    '/items/%252e%252e': /"\." or "\.\."/,
    '/items/a%2f..%2fb': /"\." or "\.\."/,
    '//items': /empty segment/,
  }
  for (const [path, message] of Object.entries(cases))
    assert.match(problemsOf(proxy, { ...proxied, path })[0] ?? path, message)
})

test('proxy never passes on headers that belong to the connection, the caller or the server', () => {
  const forbidden =
    `Authorization Cookie Host Forwarded X-Forwarded-For X-Forwarded-Host Set-Cookie Access-Control-Allow-Origin
    Content-Security-Policy Content-Security-Policy-Report-Only Connection Keep-Alive Proxy-Authenticate Proxy-Authorization TE
    Trailer Transfer-Encoding Upgrade Content-Length Content-Encoding Accept-Encoding Strict-Transport-Security Expect
    Proxy-Connection X-Real-IP Via Sec-Fetch-Mode WWW-Authenticate`.split(/\s+/)
  for (const part of ['request', 'response']) {
    const headers = { request: [], response: [], [part]: ['x-trace', ...forbidden, 'etag'] }
    const places = (describe(proxy, { ...proxied, headers }).problems ?? []).map(({ at }) => at)
    assert.deepEqual(
      places,
      forbidden.map((_, index) => `/headers/${part}/${index + 1}`),
    )
  }
})

test('actions with an unknown plan are not made', async () => {
  const options = {
    config: { ...proxied, path: '/' },
    use: { method: 'GET', path: '/' },
    databases: {},
    host: {} as never,
  }
  for (const plan of [undefined, { format: 2 }])
    await assert.rejects(async () => proxy.make({ ...options, plan }), /it was built by another version/)
})
