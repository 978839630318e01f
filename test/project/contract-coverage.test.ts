import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { openContract, type Contract } from '../../src/project/contract/contract-points.ts'
import { formatCoverage, formatLcov, joinCoverage } from '../../src/project/contract/report.ts'
import type { RequestExchange } from '../../src/runtime/index.ts'
import type { Manifest } from '../../src/release/index.ts'
import { writeFiles } from '../support/project-server.ts'

const yml = `routes:
  /todo:
    scopes: [todo]
    methods:
      POST:
        parameters:
          dry: { type: boolean }
        request: Input
        responses: { 201: Message, 409: Message }
        action: src/a.ts
      GET: { public: true, response: !include list.yml, action: src/b.ts }
schema:
  Input:
    type: object
    required: [title]
    properties:
      title: { type: string }
      id: { type: integer, readOnly: true }
      tags:
        type: array
        items:
          type: object
          properties:
            color: { type: string }
  Message: { type: object, properties: { success: { type: boolean } } }
event:
  made: { schema: Message }
cronjob:
  tidy: { cron: '0 0 * * *', action: src/c.ts }
`
const list = 'type: object\nproperties:\n  entry: { type: array }\n'
const ref = (name: string) => ({ $ref: `schema:///${name}` })
const string = { type: 'string' }
const manifest = {
  routes: [
    {
      path: '/todo',
      methods: [
        {
          method: 'POST',
          public: false,
          scopes: ['todo'],
          query: { type: 'object', properties: { dry: { type: 'boolean' } } },
          request: ref('Input'),
          responses: { 201: ref('Message'), 409: ref('Message') },
        },
        {
          method: 'GET',
          public: true,
          scopes: ['todo'],
          responses: { 200: { type: 'object', properties: { entry: { type: 'array' } } } },
        },
      ],
    },
  ],
  schemas: {
    Input: {
      type: 'object',
      required: ['title'],
      properties: {
        title: string,
        id: { type: 'integer', readOnly: true },
        tags: { type: 'array', items: { type: 'object', properties: { color: string } } },
      },
    },
    Message: { type: 'object', properties: { success: { type: 'boolean' } } },
  },
  events: { made: {} },
  cronjobs: { tidy: {} },
} as unknown as Manifest

let root: string
let contract: Contract
before(async () => {
  root = await mkdtemp(path.join(tmpdir(), 'waypost-contract-'))
  await writeFiles(root, { 'waypost.yml': yml, 'list.yml': list })
  contract = openContract(root, manifest)
})
after(() => rm(root, { recursive: true, force: true }))

const post: RequestExchange = {
  method: 'POST',
  route: '/todo',
  status: 201,
  type: 'application/json',
  scopes: ['todo'],
  query: {},
  body: {},
  result: {},
}

test('lists what the definition promises, each with its place', () => {
  assert.deepEqual(
    contract.points.map(({ kind, name, place }) => `${kind} | ${name} | ${place}`),
    [
      'method | POST /todo | waypost.yml:5',
      'status | POST /todo 201 | waypost.yml:9',
      'error | POST /todo 409 | waypost.yml:9',
      'error | POST /todo 400 | waypost.yml:5',
      'error | POST /todo 401 | waypost.yml:5',
      'error | POST /todo 403 | waypost.yml:5',
      'scope | POST /todo with scope todo | waypost.yml:3',
      'request | POST /todo query.dry | waypost.yml:7',
      'request | POST /todo without query.dry | waypost.yml:7',
      'request | POST /todo body.title | waypost.yml:17',
      'request | POST /todo body.tags | waypost.yml:19',
      'request | POST /todo without body.tags | waypost.yml:19',
      'request | POST /todo body.tags[].color | waypost.yml:24',
      'request | POST /todo without body.tags[].color | waypost.yml:24',
      'response | POST /todo 201 success | waypost.yml:25',
      'method | GET /todo | waypost.yml:11',
      'status | GET /todo 200 | waypost.yml:11',
      'response | GET /todo 200 entry | list.yml:3',
      'event | event made | waypost.yml:27',
      'cronjob | cronjob tidy | waypost.yml:29',
    ],
  )
})

test('a request touches what it sends, what it leaves out and what comes back', () => {
  const body = { title: 'a', tags: [{ color: 'red' }, {}] }
  assert.deepEqual(contract.judge({ ...post, query: { dry: 'true' }, body, result: { success: true } }), [
    'POST /todo',
    'POST /todo 201',
    'POST /todo with scope todo',
    'POST /todo query.dry',
    'POST /todo body.title',
    'POST /todo body.tags',
    'POST /todo body.tags[].color',
    'POST /todo without body.tags[].color',
    'POST /todo 201 success',
  ])
  assert.deepEqual(contract.judge({ ...post, status: 403, scopes: ['other'], body }), ['POST /todo', 'POST /todo 403'])
  assert.deepEqual(contract.judge({ ...post, status: 409, result: { success: false } }), [
    'POST /todo',
    'POST /todo 409',
  ])
  assert.deepEqual(contract.judge({ ...post, status: 500 }), ['POST /todo'])
  assert.deepEqual(contract.judge({ ...post, route: '/other' }), [])
})

test('the report joins processes, names a method without its parts, and has lines and branches for lcov', () => {
  const { points } = contract
  const first = contract.judge({ ...post, body: { title: 'a' }, result: { success: true } })
  const records = [first, [...first, 'event made']].map((names) => ({
    points,
    hits: Object.fromEntries(names.map((name) => [name, 1])),
  }))
  const coverage = joinCoverage(records)
  assert.deepEqual([coverage.touched, coverage.points.length, Math.floor(coverage.percent)], [8, 20, 40])
  const text = formatCoverage(coverage, 80)
  assert.match(text, /^Contract coverage {2}40% {2}8 of 20\n\n {2}Methods +1 of 2\n {2}Responses +1 of 2\n/)
  assert.match(text, /Not covered by any test\n\n {2}waypost\.yml\n {6}5 {2}POST \/todo: 400, 401, 403\n/)
  assert.match(text, /\n {5}11 {2}GET \/todo \(and 2 more\)\n/)
  assert.doesNotMatch(text, /entry/)
  for (const line of formatCoverage(coverage, 40).split('\n')) assert.ok(line.length <= 40, line)
  const lcov = formatLcov('/project', coverage)
  assert.match(lcov, /SF:\/project\/waypost\.yml\n.*BRDA:5,0,0,2\n.*DA:5,2\n.*DA:29,0\n.*end_of_record/s)
  assert.match(lcov, /SF:\/project\/list\.yml\nBRDA:3,0,0,0\nBRF:1\nBRH:0\nDA:3,0\nLF:1\nLH:0\nend_of_record/)
  assert.equal(joinCoverage([{ points: [], hits: {} }]).percent, 100)
})
