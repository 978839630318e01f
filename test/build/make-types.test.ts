import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeTypes } from '../../src/build/index.ts'
import type { Definition } from '../../src/definition/index.ts'
import { compile } from './compile.ts'
import { emptyDefinition, makeMethod } from './project.ts'
import { todoDefinition, todoFiles } from './todo.ts'
import { at, system } from './types-of.ts'

test('the text is one that people can read', () => {
  const definition = { ...todoDefinition, routes: todoDefinition.routes.slice(0, 1) }
  assert.equal(
    makeTypes(definition, system),
    `/* eslint-disable */
// Written by waypost from the project. Do not edit it, do not commit it.
import type { Kysely } from 'waypost'

export declare namespace Schema {
  type Todo = {
    id: number
    /** 1 is open */
    status: number
    title: string
    content: string
    insert_date: string
  }
  type TodoInput = { title: string; content: string }
  type TodoCollection = {
    totalResults: number
    startIndex: number
    itemsPerPage: number
    entry: Todo[]
  }
  type Message = { success: boolean; message: string; id?: number }
}

declare module 'waypost' {
  interface Routes {
    /** Lists the open to-dos, newest first */
    'GET /todo': {
      params: {}
      query: { startIndex: number }
      body: undefined
      result: Schema.TodoCollection
      responses: { 200: Schema.TodoCollection }
    }
    /** Creates a to-do */
    'POST /todo': {
      params: {}
      query: {}
      body: Schema.TodoInput
      result: Schema.Message
      responses: { 201: Schema.Message; 409: Schema.Message }
      private: true
    }
  }

  interface Events {
    /** A to-do was created */
    todo_created: Schema.Todo
  }

  interface Connections {
    System: Kysely<import('../migrations/System/tables.ts').Tables>
  }
}
`,
  )
})

/** A single mistake in an otherwise correct action, and the expected compiler error. */
const mistakes: readonly [what: string, body: string, error: RegExp][] = [
  ['nothing', `return { success: true, message: 'x' }`, /^$/],
  ['a field of the wrong type', `return { success: 1, message: 'x' }`, /TS2416/],
  ['a missing field', `return { success: true }`, /TS2416/],
  ['an event that is not there', `await context.dispatch('todo_creatd', todo)\nreturn ok`, /TS2345.*"todo_creatd"/],
  [
    'data that the event does not have',
    `await context.dispatch('todo_created', { ...todo, id: 'x' })\nreturn ok`,
    /TS2322/,
  ],
  ['a connection that is not there', `context.connection('Sytem')\nreturn ok`, /TS2345.*"Sytem"/],
  [
    'a table that is not there',
    `context.connection('System').selectFrom('app_tod')\nreturn ok`,
    /TS2345.*"app_tod"|TS2769/,
  ],
  ['a field of the body that is not there', `void request.body.titel\nreturn ok`, /TS2551.*titel/],
  ['a parameter that is not there', `void request.params.todo_id\nreturn ok`, /TS2339.*todo_id/],
  ['a declared status by respond', `return context.respond(409, { success: false, message: 'x' })`, /^$/],
  ['the declared 2xx with headers by respond', `return context.respond(201, ok, { location: '/todo/1' })`, /^$/],
  ['an undeclared status by respond', `return context.respond(404, ok)`, /TS2416/],
  ['a declared status with the wrong body', `return context.respond(409, { success: 'no' })`, /TS2416/],
  ['a Buffer', `return Buffer.from('x')`, /^$/],
]

test('the actions of the to-do project fit its types, and mistakes in an action are compiler errors', async () => {
  const make = (body: string, key = 'POST /todo') => `import type { Action, Context, Request } from 'waypost'
const ok = { success: true, message: 'x' }
const todo = { id: 1, status: 1, title: 't', content: 'c', insert_date: 'd' }
export default class Mistake implements Action<'${key}'> {
  async handle(request: Request<'${key}'>, context: Context) {
${body}
  }
}
void [ok, todo]
`
  const files = Object.fromEntries(mistakes.map(([, body], index) => [`src/m${index}.ts`, make(body)]))
  const wrongKey = make('return ok', 'POST /tood')
  const errors = await compile({
    ...todoFiles,
    ...files,
    'src/key.ts': wrongKey,
    '.waypost/types.d.ts': makeTypes(todoDefinition, system),
  })
  mistakes.forEach(([what, , expected], index) => {
    const said = errors.filter((line) => line.startsWith(`src/m${index}.ts`)).join('\n')
    assert.match(said, expected, what)
  })
  assert.match(errors.filter((line) => line.startsWith('src/key.ts')).join(), /TS2344.*'"POST \/tood"'/)
  assert.deepEqual(
    errors.filter((line) => !/^src\/(m\d+|key)\.ts/.test(line)),
    [],
  )
})

test('an action may respond with each status of a range, unless the status has its own schema', async () => {
  const failure = (name: string) => ({ type: 'object', required: [name], properties: { [name]: { type: 'string' } } })
  const responses = { 200: { type: 'null' }, 409: failure('a'), '4XX': failure('b'), default: failure('c') }
  const method = makeMethod('GET', 'src/range.ts', { responses })
  const definition = { ...emptyDefinition, routes: [{ path: '/range', methods: [method], at: method.at }] }
  const types = makeTypes(definition, system)
  assert.match(types, /409: [^]*'4XX': [^]*default: /)
  const bodies = {
    valid: `if (request.url === '/') return context.respond(409, { a: '' })
    if (request.url === '/b') return context.respond(422, { b: '' })
    return context.respond(503, { c: '' })`,
    own: `return context.respond(409, { b: '' })`,
    client: `return context.respond(422, { c: '' })`,
    success: `return context.respond(202, { c: '' })`,
  }
  const files = Object.entries(bodies).map(([name, body]) => [
    `src/${name}.ts`,
    `import type { Action, Context, Request } from 'waypost'
export default class Range implements Action<'GET /range'> {
  async handle(request: Request<'GET /range'>, context: Context) {
    void request
    ${body}
  }
}
`,
  ])
  const errors = await compile({ ...todoFiles, ...Object.fromEntries(files), '.waypost/types.d.ts': types })
  assert.deepEqual(
    errors
      .filter((line) => !line.startsWith('src/todo'))
      .map((line) => line.split('(')[0]!)
      .toSorted((a, b) => (a < b ? -1 : 1)),
    ['src/client.ts', 'src/own.ts', 'src/success.ts'],
    errors.join('\n'),
  )
})

test('connections have the type of their class, with their tables if they are there', async () => {
  const connections = Object.fromEntries(
    ['Orders', 'Archive', 'Mail-Box'].map((name) => [name, { class: 'x', config: {}, at }]),
  )
  const clientTypes = {
    Orders: `Kysely<{Tables}>`,
    Archive: `import('waypost').Kysely<{Tables}>`,
    'Mail-Box': '{ send(to: string): Promise<void> }',
  }
  const types = makeTypes({ ...emptyDefinition, connections }, { tables: { Archive: true }, clientTypes })
  assert.match(
    types,
    /^ {4}System: Kysely<any>\n {4}Orders: Kysely<any>\n {4}Archive: import\('waypost'\)\.Kysely<import\('\.\.\/migrations\/Archive\/tables\.ts'\)\.Tables>\n {4}'Mail-Box': \{ send/m,
  )
  const source = `import type { Context } from 'waypost'
export async function use(context: Context) {
  await context.connection('Mail-Box').send('x')
  context.connection('Archive').selectFrom('old')
  context.connection('System').selectFrom('anything')
  // @ts-expect-error there is no such table
  context.connection('Archive').selectFrom('new')
}
`
  const tables = 'export interface Tables { old: { id: number } }\n'
  assert.deepEqual(
    await compile({ 'src/a.ts': source, 'migrations/Archive/tables.ts': tables, '.waypost/types.d.ts': types }),
    [],
  )
})

test('the result is the body of the lowest 2xx', () => {
  const responses = { 202: { type: 'string' }, 200: { type: 'number' }, 404: { type: 'null' } }
  const text = makeTypes(
    { ...emptyDefinition, routes: [{ path: '/a', methods: [makeMethod('GET', 'a.ts', { responses })], at }] },
    system,
  )
  assert.match(text, /result: number\n +responses: \{ 200: number; 202: string; 404: null \}/)
})

test('a method that declares 204 besides another 2xx may return undefined', async () => {
  const empty = { type: 'null' }
  const definition: Definition = {
    ...emptyDefinition,
    routes: [
      {
        path: '/a',
        methods: [
          makeMethod('DELETE', 'a.ts', { responses: { 204: empty, 409: { type: 'string' } } }),
          makeMethod('GET', 'b.ts', { responses: { 200: { type: 'number' }, 204: empty, 304: empty } }),
          makeMethod('POST', 'c.ts', { responses: { 201: { type: 'number' } } }),
        ],
        at,
      },
    ],
  }
  const types = makeTypes(definition, { tables: {}, clientTypes: {} })
  assert.match(types, /result: void\n +responses: \{ 204: undefined; 409: string \}/)
  assert.match(types, /result: number \| void\n +responses: \{ 200: number; 204: undefined; 304: undefined \}/)
  const action = (key: string, code: string) => `import type { Action, Context, Request } from 'waypost'
export default class Sample implements Action<'${key}'> {
  ${code}
}
`
  const found = await compile({
    '.waypost/types.d.ts': types,
    'src/a.ts': action(
      'DELETE /a',
      'async handle(_: unknown, context: Context) { if (1 > 2) throw context.problem(409, "x") }',
    ),
    'src/a2.ts': action(
      'DELETE /a',
      'handle(_: unknown, { respond }: Context) { return 1 > 2 ? respond(204) : respond(409, "x") }',
    ),
    'src/b.ts': action(
      'GET /a',
      'async handle(_: unknown, { respond }: Context) { if (1 > 2) return 1; if (2 > 3) return respond(304, undefined, { etag: "a" }) }',
    ),
    'src/c.ts': action('POST /a', 'async handle() {}'),
    'src/c2.ts': action('POST /a', 'handle(_: unknown, { respond }: Context) { return respond(201) }'),
    'src/d.ts': action('DELETE /a', 'async handle() { return { a: 1 } }'),
  })
  assert.deepEqual([...new Set(found.map((line) => line.split('(')[0]))], ['src/c.ts', 'src/c2.ts', 'src/d.ts'])
})

const stepFiles = {
  'src/tenant.ts': `import type { Context, Request, RouteStep, StepOutcome } from 'waypost'
export default class Tenant implements RouteStep {
  async handle(request: Request, context: Context) {
    if (request.headers['x-tenant'] === undefined) throw context.problem(404, 'No such tenant')
    if (request.headers['x-tenant'] === 'old') return context.respond(410, { why: 'moved' })
    return { id: 1, name: 'a' }
  }
  async after(request: Request, context: Context, { status, ms }: StepOutcome) {
    context.log.info({ status, ms })
  }
}
`,
  'src/cart.ts': `import type { Context, Request } from 'waypost'
export default class Cart {
  handle = (request: Request, context: Context<'GET /me'>): readonly string[] => [context.state.tenant.name]
}
`,
  'src/me.ts': `import type { Context, Request } from 'waypost'
export class Me {
  handle(request: Request<'GET /me'>, context: Context<'GET /me'>): never {
    const { tenant, cart } = context.state
    const id: number = tenant.id
    const first: string | undefined = cart[0]
    // @ts-expect-error it has no such property
    throw new Error(String([id, first, tenant.missing]))
  }
}
export class Other {
  handle(request: Request<'POST /me'>, context: Context<'POST /me'>): never {
    // @ts-expect-error the method has no steps
    throw new Error(context.state.tenant.name)
  }
}
`,
}

const callerFiles = {
  'src/caller.ts': `import type { Action, Context, Request } from 'waypost'
export class Private implements Action<'GET /me'> {
  handle(request: Request<'GET /me'>, context: Context<'GET /me'>): never {
    throw new Error(context.principal.user.id)
  }
}
export class Public implements Action<'POST /me'> {
  handle(request: Request<'POST /me'>, context: Context<'POST /me'>): never {
    // @ts-expect-error there may be no caller
    throw new Error(context.principal.user.id)
  }
}
export class Plain implements Action<'GET /me'> {
  handle(request: Request<'GET /me'>, context: Context): never {
    // @ts-expect-error without the key of the route, there may be no caller
    throw new Error(context.principal.user.id)
  }
}
export class Tidy implements Action<'cronjob'> {
  handle(request: Request<'cronjob'>, context: Context<'cronjob'>) {
    // @ts-expect-error there is no caller
    context.log.info({ user: context.principal.user.id })
  }
}
`,
}

const cronjobFiles = {
  'src/tidy.ts': `import type { Action, Context, Request } from 'waypost'
export default class Tidy implements Action<'cronjob'> {
  async handle({ params, body }: Request<'cronjob'>, context: Context) {
    const nothing: undefined = body
    const slot: string = params.slot
    context.log.info({ slot, nothing, name: params.cronjob satisfies string })
    // @ts-expect-error there is no such parameter
    void params.todo_id
  }
}
`,
}

test('a private route has a caller and the state of its steps, public ones and cronjobs may have none; a cronjob knows its slot', async () => {
  const [method] = todoDefinition.routes[0]!.methods
  const steps = [
    { name: 'tenant', action: { file: 'src/tenant.ts', at } },
    { name: 'cart', action: { file: 'src/cart.ts', at } },
  ]
  const methods = [
    { ...method!, method: 'GET', public: false, steps },
    { ...method!, method: 'POST', public: true },
  ] as const
  const definition = {
    ...todoDefinition,
    routes: [...todoDefinition.routes, { ...todoDefinition.routes[0]!, path: '/me', methods }],
  }
  const types = makeTypes(definition, system)
  const files = { ...todoFiles, ...stepFiles, ...callerFiles, ...cronjobFiles }
  assert.deepEqual(await compile({ ...files, '.waypost/types.d.ts': types }), [])
})

test('without generated types every key, call and variable is accepted', async () => {
  const action = todoFiles['src/todo/entity.ts']!.replaceAll('GET /todo/:todo_id', 'GET /x')
  const call = `import type { Context } from 'waypost'
export const call = async (context: Context) => {
  const { id } = await context.call('POST /any', { params: { id: 1 }, body: { name: 'x' } })
  return String(id)
}
`
  const variable = `import type { Context } from 'waypost'\nexport const use = ({ env }: Context): unknown => env.ANY.length\n`
  const files = { 'src/a.ts': action, 'src/call.ts': call, 'src/variable.ts': variable, ...cronjobFiles }
  assert.deepEqual(await compile(files), [])
})
