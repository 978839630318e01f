import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { openTracing } from '../../../src/host/tracing/open-tracing.ts'
import { actionFile } from '../../support/project-server.ts'
import { send } from '../../support/send.ts'
import { until } from '../../support/until.ts'
import { openServeSite } from './site.ts'

interface Span {
  readonly name: string
  readonly kind: number
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly status: { readonly code?: number }
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[]
}

interface Export {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: Span['attributes'] }
    readonly scopeSpans: readonly { readonly spans: readonly Span[] }[]
  }[]
}

/** A collector that accepts OTLP over HTTP. */
const spans: Span[] = []
const services = new Set<unknown>()
const collector = createServer((request, response) => {
  let text = ''
  request.setEncoding('utf8').on('data', (part: string) => (text += part))
  request.on('end', () => {
    assert.equal(request.url, '/v1/traces')
    for (const { resource, scopeSpans } of (JSON.parse(text) as Export).resourceSpans) {
      services.add(resource.attributes.find(({ key }) => key === 'service.name')?.value['stringValue'])
      spans.push(...scopeSpans.flatMap((scope) => scope.spans))
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
})
before(async () => {
  collector.listen(0, '127.0.0.1')
  await once(collector, 'listening')
})
after(() => {
  collector.close()
  collector.closeAllConnections()
})

const files = {
  'waypost.yml': `routes:
  /item/:id:
    path: { id: { type: integer } }
    methods: { GET: { public: true, response: { type: object }, action: src/item.ts } }
  /broken: { methods: { GET: { public: true, response: { type: object }, action: src/broken.ts } } }
`,
  'src/item.ts': actionFile(
    `await context.connection('System').selectFrom('waypost_user').select('id').where('name', '=', 'ann').execute(); return {}`,
  ),
  'src/broken.ts': actionFile(`throw new TypeError('a secret reason')`),
}

const named = (name: string) => spans.find((span) => span.name === name)
const attribute = (span: Span | undefined, wanted: string) => {
  const value = span?.attributes.find(({ key }) => key === wanted)?.value
  return value?.['stringValue'] ?? value?.['intValue']
}

test('where OTEL_ variables ask for it, requests, actions and statements are spans of one trace', async () => {
  await using site = await openServeSite()
  await site.deploy(files)
  const { port } = collector.address() as AddressInfo
  const server = await site.start(
    {},
    {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_BSP_SCHEDULE_DELAY: '20',
    },
  )
  const traceId = '0af7651916cd43dd8448eb211c80319c'
  const headers = { traceparent: `00-${traceId}-b7ad6b7169203331-01` }
  assert.equal((await send(server.port, { path: '/item/3?token=hidden', headers })).status, 200)
  assert.equal((await send(server.port, { path: '/broken' })).status, 500)
  assert.equal((await send(server.port, { path: '/no/such/path' })).status, 404)
  for (const path of ['/health/live', '/health/ready', '/health/ready?from=probe']) {
    assert.equal((await send(server.port, { path })).status, 200)
  }
  const wanted = ['GET /item/:id', 'GET /broken', 'GET'] // a path without a route names no span
  await until('the spans', () => wanted.every((name) => named(name) !== undefined))

  const request = named('GET /item/:id')!
  assert.equal(request.traceId, traceId, 'it goes on what the caller began')
  assert.equal(request.parentSpanId, 'b7ad6b7169203331')
  assert.equal(attribute(request, 'http.route'), '/item/:id')
  assert.equal(attribute(request, 'url.path'), '/item/3')
  assert.equal(attribute(request, 'http.response.status_code'), 200)
  const action = named('action src/item.ts')!
  assert.equal(action.parentSpanId, request.spanId)
  const statement = spans.find((span) => span.parentSpanId === action.spanId)!
  assert.equal(statement.name, 'select')
  assert.match(String(attribute(statement, 'db.query.text')), /from "waypost_user" where "name" = \?/)
  const failed = named('action src/broken.ts')!
  assert.equal(failed.status.code, 2)
  assert.equal(attribute(failed, 'error.type'), 'TypeError')
  assert.deepEqual([...services], ['waypost'])
  assert.doesNotMatch(JSON.stringify(spans), /hidden|a secret reason|"ann"/)

  const begun = spans.length
  await send(server.port, { path: '/item/4' })
  await server.close()
  assert.ok(spans.length > begun, 'what was not sent yet is sent at the end')
  const paths = spans.map((span) => String(attribute(span, 'url.path')))
  assert.ok(!paths.some((one) => one.startsWith('/health')), 'probes have no spans')
})

test('without them no part of OpenTelemetry is loaded', async () => {
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' }
  for (const variables of [
    {},
    { OTEL_SERVICE_NAME: 'todo', OTEL_PROPAGATORS: 'b3' },
    { ...endpoint, OTEL_TRACES_EXPORTER: 'none' },
    { ...endpoint, OTEL_SDK_DISABLED: 'true' },
  ]) {
    assert.equal(await openTracing(variables), undefined)
  }
})
