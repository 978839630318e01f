import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeTypes } from '../../src/build/index.ts'
import type { Definition } from '../../src/definition/index.ts'
import { compile } from './compile.ts'
import { defineActions, emptyDefinition, makeMethod } from './project.ts'
import { at, system } from './types-of.ts'

test('read-only properties are in no request, write-only ones in no response and no event', () => {
  const User = {
    type: 'object',
    required: ['id', 'name', 'password'],
    properties: {
      id: { $ref: 'schema:///Id' },
      name: { type: 'string' },
      role: { type: 'string', readOnly: true, default: 'member' },
      password: { type: 'string', writeOnly: true },
    },
  }
  const reference = { $ref: 'schema:///User' }
  const method = makeMethod('POST', 'a.ts', {
    request: {
      type: 'object',
      properties: { users: { type: 'array', items: reference }, at: { type: 'string', readOnly: true } },
    },
    responses: { 200: { type: 'object', properties: { user: reference, key: { type: 'string', writeOnly: true } } } },
  })
  const types = makeTypes(
    {
      ...emptyDefinition,
      schemas: { Id: { type: 'integer', readOnly: true }, User },
      routes: [{ path: '/user', methods: [method], at: method.at }],
      events: { joined: { schema: reference } },
    },
    system,
  )
  const [, schemas = ''] = types.split('namespace Schema')
  assert.match(schemas, /^ \{\n {2}type Id = number\n {2}type User = \{ id: Id; name: string; role\?: string \}\n\}/)
  assert.match(types, /namespace Received \{[^}]*type User = \{ name: string; password: string \}/)
  assert.match(types, /namespace Sent \{[^}]*type User = \{ name: string; password: string \}/)
  assert.match(types, /body: \{ users\?: Received\.User\[\] \}\n/)
  assert.match(types, /responses: \{ 200: \{ user\?: Schema\.User \} \}\n/)
  assert.match(types, /joined: Schema\.User\n/)
})

test('parts without a schema have the types of the values that the runtime passes', () => {
  const definition: Definition = {
    ...defineActions(),
    routes: [
      {
        path: '/a/:b/:c',
        methods: (['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const).map((method) => makeMethod(method, 'a.ts')),
        at,
      },
    ],
    events: { ping: {} },
  }
  const text = makeTypes(definition, { tables: {}, clientTypes: {} })
  const bodies = [
    ...text.matchAll(
      /'(\w+) \/a\/:b\/:c': \{\n +params: (.*)\n +query: (.*)\n +body: (.*)\n +result: (.*)\n +responses: (.*)\n/g,
    ),
  ]
  assert.deepEqual(
    bodies.map(([, ...parts]) => parts.join(' | ')),
    ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].map(
      (method) =>
        `${method} | { b: string; c: string } | {} | ${/P/.test(method) ? 'Record<string, unknown>' : 'undefined'} | unknown | {}`,
    ),
  )
  assert.match(text, /ping: unknown/)
})

test('a query or parameter by the name of a schema is coerced and defaulted like one in place', () => {
  const definition: Definition = {
    ...emptyDefinition,
    schemas: {
      Page: { $ref: 'schema:///Page-Base' },
      'Page-Base': {
        type: 'object',
        properties: { start: { type: 'integer', default: 0 }, size: { type: 'integer' } },
      },
      Key: { type: 'object', properties: { id: { $ref: '#/$defs/Id' } }, $defs: { Id: { type: 'integer' } } },
    },
    routes: [
      {
        path: '/a/:id',
        methods: [makeMethod('GET', 'a.ts', { query: { $ref: 'schema:///Page' }, params: { $ref: 'schema:///Key' } })],
        at,
      },
    ],
  }
  const text = makeTypes(definition, { tables: {}, clientTypes: {} })
  assert.match(text, /params: \{ id: number \}\n +query: Received\.Page\n/)
  assert.match(
    text,
    /namespace Received \{\n {2}type Page = Received\.PageBase\n {2}type PageBase = \{ start: number; size\?: number \}\n\}/,
  )
})

test('an action receives all defaults; its result may omit them', async () => {
  const line = { type: 'object', properties: { count: { type: 'integer', default: 1 }, next: { $ref: '#' } } }
  const definition: Definition = {
    ...emptyDefinition,
    schemas: {
      Line: line,
      Order: {
        type: 'object',
        required: ['lines'],
        properties: {
          status: { type: 'integer', default: 1 },
          lines: { type: 'array', items: { $ref: 'schema:///Line' } },
          pay: { oneOf: [{ $ref: 'schema:///Line' }, { type: 'null' }] },
        },
      },
      Name: { type: 'string' },
      Strict: {
        type: 'object',
        required: ['a', 'b'],
        properties: { a: { type: 'number', default: 1 }, b: { $ref: '#/properties/a' } },
      },
    },
    routes: [
      {
        path: '/order',
        methods: [
          makeMethod('POST', 'a.ts', {
            request: { $ref: 'schema:///Order' },
            responses: { 200: { $ref: 'schema:///Order' } },
          }),
          makeMethod('PATCH', 'c.ts', { request: { $ref: 'schema:///Strict' } }),
          makeMethod('PUT', 'b.ts', {
            request: { type: 'object', properties: { name: { $ref: 'schema:///Name', default: 'x' }, line } },
          }),
        ],
        at,
      },
    ],
  }
  const action = (key: string, code: string) => `import type { Action, Context, Request } from 'waypost'
export default class Sample implements Action<'${key}'> {
  async handle({ body }: Request<'${key}'>, _context: Context) {
${code}
  }
}
`
  const right = `const all: number[] = [body.status, ...body.lines.map(({ count }) => count)]
const next: number | undefined = body.lines[0]?.next?.count
const pay: number | undefined = body.pay?.count
return { lines: [{}], pay: next === undefined || pay === 1 ? null : { count: all[0]! } }`
  const wrong = `const count: number = body.pay!.count
return { lines: [], status: count, pay: null }`
  const put = `const texts: [string, number | undefined] = [body.name, body.line?.count]
const count: number = body.line!.count
return [texts, count]`
  const strict = `const sum: number = body.a + body.b
const sent: Routes['PATCH /order']['sent'][] = [{ b: 1 }, { a: 1, b: 2 }]
return [sum, sent]`
  const errors = await compile({
    'src/right.ts': action('POST /order', right),
    'src/wrong.ts': action('POST /order', wrong),
    'src/put.ts': action('PUT /order', put),
    'src/strict.ts': `import type { Routes } from 'waypost'\n${action('PATCH /order', strict)}`,
    '.waypost/types.d.ts': makeTypes(definition, { tables: {}, clientTypes: {} }),
  })
  assert.deepEqual(
    errors.map((error) => error.replace(/^(\S+\(\d+),.*?(TS\d+).*/s, '$1 $2')),
    ['src/wrong.ts(4 TS2322'],
  )
})

test('declared variables are typed, and no others', async () => {
  const definition: Definition = {
    ...emptyDefinition,
    variables: {
      STOCK_URL: { optional: false, declared: { type: 'string', description: 'Where stock is' } },
      MOST: { optional: true, declared: { type: 'integer', default: 3 } },
      DEBUG: { optional: true, declared: { type: 'boolean', default: false } },
      DATABASE_URL: { optional: false },
    },
  }
  const types = makeTypes(definition, { tables: {}, clientTypes: {} })
  assert.match(
    types,
    /interface Env \{\n {4}\/\*\* Where stock is \*\/\n {4}STOCK_URL: string\n {4}MOST: number\n {4}DEBUG: boolean\n {2}\}/,
  )
  const use = (...lines: string[]) =>
    `import type { Context } from 'waypost'\nexport const use = ({ env }: Context): unknown => [\n${lines.join(',\n')}]\n`
  const errors = await compile({
    'src/right.ts': use('env.STOCK_URL.length', 'env.MOST.toFixed()', 'env.DEBUG === true'),
    'src/wrong.ts': use('env.DATABASE_URL', 'env.STOCK_URI', 'env.MOST.length', `(env.STOCK_URL = 'x')`),
    '.waypost/types.d.ts': types,
  })
  assert.deepEqual(
    errors.map((line) => line.slice(0, line.indexOf(','))),
    ['src/wrong.ts(3', 'src/wrong.ts(4', 'src/wrong.ts(5', 'src/wrong.ts(6'],
  )
})
