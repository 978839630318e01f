import assert from 'node:assert/strict'
import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, test } from 'node:test'
import type { Diagnostic } from '../../src/kit/index.ts'
import { generateRoute, validateProject } from '../../src/project/index.ts'
import { longTest } from '../support/forms.ts'
import { type Files, openProject, changed, assertValid, action } from './generated-project.ts'

describe('generate:route', () => {
  test('adds a route to the group that its path begins with, and methods to a group itself', async () => {
    const yaml = `routes:
  /v1:
    scopes: [shop]
    routes:
      /ping: { methods: { GET: { public: true, action: src/hello.ts } } }
`
    await using project = await openProject(
      {
        'waypost.yml': yaml,
        'src/hello.ts': `import type { Action } from 'waypost'\n${action('Ping', 'GET /v1/ping')}\n`,
      },
      'empty',
    )
    await project.route('GET /v1/order/:order_id')
    await project.route('PUT /v1/order/:order_id')
    await project.route('GET /v1')
    const text = await project.read('waypost.yml')
    assert.match(text, /\n {6}\/order\/:order_id:\n {8}path:/)
    assert.equal(text.match(/order_id:\n/g)!.length, 1)
    assert.match(text, /\n {4}methods:\n {6}GET:/)
    assert.match(await project.read('src/v1/order/update.ts'), /Action<'PUT \/v1\/order\/:order_id'>/)
    const { diagnostics } = await validateProject(project.folder)
    assert.deepEqual(diagnostics, [])
  })

  test('writes a route in the style of the to-do project: separate files, and one more line in waypost.yml', async () => {
    await using project = await openProject({}, 'todo')
    const before = await project.files()
    const generated = await project.route('POST /order --scopes order')
    const after = changed(before, await project.files())
    assert.deepEqual(Object.keys(after), [
      'resources/routes/order.yml',
      'resources/schema.yml',
      'src/order/insert.ts',
      'waypost.yml',
    ])
    assert.equal(
      after['resources/routes/order.yml'],
      `# yaml-language-server: $schema=../../node_modules/waypost/waypost-route.schema.json
scopes: [order]
methods:
  POST:
    description: Creates one order
    request: Order-Input
    responses: { 201: Order }
    action: src/order/insert.ts
`,
    )
    assert.equal(
      after['src/order/insert.ts'],
      `import type { Action, Context, Request } from 'waypost'

export default class InsertOrder implements Action<'POST /order'> {
  async handle({ body }: Request<'POST /order'>, context: Context): Promise<never> {
    throw context.problem(501, 'POST /order is not implemented yet')
  }
}
`,
    )
    const line = '  /order: !include resources/routes/order.yml\n'
    assert.equal(after['waypost.yml']!.replace(line, ''), before['waypost.yml'])
    assert.ok(after['resources/schema.yml']!.startsWith(before['resources/schema.yml']!))
    assert.deepEqual(generated.added, [
      { name: 'schema Order', file: 'resources/schema.yml', line: 33 },
      { name: 'schema Order-Input', file: 'resources/schema.yml', line: 39 },
      { name: '/order', file: 'waypost.yml', line: 5 },
    ])
  })

  // In CI, build/make-types.test.ts checks the types of actions, and the tests below each kind of method.
  longTest('every method, public or not, passes validate --types with the generated files', async () => {
    await using project = await openProject({}, 'todo')
    const routes = [
      'POST /order --scopes order',
      'GET /order --public',
      'GET /order/:order_id --public --scopes order',
      'PUT /order/:order_id',
      'PATCH /order/:order_id',
      'DELETE /order/:order_id --scopes order.admin,order',
      'POST /order/:order_id',
      'PATCH /order',
      'DELETE /order',
      'PATCH /todo/:todo_id',
      'GET /todo/:todo_id/attached-files/:name --scopes -',
      'GET / --public',
      "POST /v1/it's/:file_uuid --public",
      'POST /1st/2nd --public',
    ]
    for (const route of routes) await project.route(route)
    await assertValid(project)
    const files = await project.files()
    assert.ok(
      !files['resources/routes/order/entity.yml']!.includes('scopes: [order]\n    '),
      'the route has its scopes already',
    )
    assert.match(files['resources/routes/order/entity.yml']!, /DELETE:\n.*\n {4}scopes: \[order.admin, order\]/)
    assert.match(
      files['resources/routes/todo/attached-files/entity.yml']!,
      /todo_id: { type: integer }\n {2}name: { type: string }/,
    )
    assert.match(
      files['resources/schema.yml']!,
      /Todo-Patch:\n(.*\n){4} {4}title: { type: string, minLength: 1, maxLength: 64 }/,
    )
    assert.match(files['src/todo/patch.ts']!, /class PatchTodo implements Action<'PATCH \/todo\/:todo_id'>/)
  })

  test('a project with everything in waypost.yml stays that way', async () => {
    await using project = await openProject({}, 'empty')
    const before = await project.read('waypost.yml')
    await project.route('GET /orders --public')
    await project.route('POST /orders --scopes orders')
    await assertValid(project)
    const after = await project.read('waypost.yml')
    const [routes, config] = before.split(/^(?=config:)/m) as [string, string]
    assert.ok(after.startsWith(routes) && after.includes(`\n${config}`))
    assert.equal(
      after.slice(routes.length).replace(/^(?:config|schema):[^]*/m, ''),
      `  /orders:
    methods:
      GET:
        description: Lists orders
        public: true
        parameters:
          startIndex: { type: integer, minimum: 0, default: 0 }
        response: Order-Collection
        action: src/orders/collection.ts
      POST:
        description: Creates one order
        scopes: [orders]
        request: Order-Input
        responses: { 201: Order }
        action: src/orders/insert.ts
`,
    )
  })

  test('public methods that change data get a rate, created once, unless the route has one', async () => {
    await using project = await openProject({
      'waypost.yml':
        'routes:\n  /a:\n    rate: own\n    methods:\n      GET: { public: true, action: src/a.ts }\nrate: { own: { limit: 1, window: 1s } }\n',
      'src/a.ts': action('A', 'GET /a'),
    })
    const { added } = await project.route('POST /form --public')
    assert.deepEqual(
      added.find(({ name }) => name.startsWith('rate')),
      {
        name: 'rate public',
        file: 'waypost.yml',
        line: 15,
      },
    )
    await project.route('DELETE /form --public')
    await project.route('PUT /a --public')
    await project.route('PUT /b --scopes b')
    const text = await project.read('waypost.yml')
    assert.match(text, /rate: { own: { limit: 1, window: 1s }, public: { limit: 60, window: 1m, by: address } }\n/)
    assert.deepEqual(text.match(/ {8}public: true\n {8}rate: public\n/g)?.length, 2)
    assert.equal(text.split('rate: public').length, 3)
    assert.deepEqual((await validateProject(project.folder)).diagnostics, [])
  })

  test('a map of routes that is included completely gets the line, relative to its file', async () => {
    await using project = await openProject({
      'waypost.yml': 'routes: !include resources/routes.yml\n',
      'resources/routes.yml': '# all\n/a: !include routes/a.yml\n',
      'resources/routes/a.yml': 'methods:\n  GET: { public: true, action: src/a.ts }\n',
      'src/a.ts': action('A', 'GET /a'),
    })
    await project.route('GET /order/:order_id --public')
    assert.equal(
      await project.read('resources/routes.yml'),
      '# all\n/a: !include routes/a.yml\n/order/:order_id: !include routes/order/entity.yml\n',
    )
    assert.equal(
      await project.read('waypost.yml'),
      'routes: !include resources/routes.yml\nschema: !include resources/schema.yml\n',
    )
    assert.deepEqual((await validateProject(project.folder)).diagnostics, [])
  })

  test('a project without routes, and one whose routes are JSON', async () => {
    await using none = await openProject({ 'waypost.yml': '# nothing yet\n' })
    await none.route('DELETE /order/:order_id --scopes order')
    assert.equal(
      await none.read('waypost.yml'),
      '# nothing yet\nroutes:\n  /order/:order_id: !include resources/routes/order/entity.yml\n',
    )
    await using json = await openProject({ 'waypost.yml': 'routes: !include routes.json\n', 'routes.json': '{}\n' })
    await json.route('DELETE /order/:order_id --scopes order')
    assert.deepEqual(JSON.parse(await json.read('routes.json')), {
      '/order/:order_id': {
        scopes: ['order'],
        path: { order_id: { type: 'integer' } },
        methods: {
          DELETE: { description: 'Removes one order', responses: { 204: null }, action: 'src/order/delete.ts' },
        },
      },
    })
    assert.deepEqual((await validateProject(json.folder)).diagnostics, [])
  })

  test('a new action is placed next to those of its route, and schemas are found in any spelling', async () => {
    await using project = await openProject({
      'waypost.yml':
        'routes:\n  /order: !include order.yml\nschema:\n  OrderInput: { type: object }\n  order: { type: object }\n',
      'order.yml': 'scopes: [order]\nmethods:\n  GET: { response: order, action: src/shop/sales/list.ts }\n',
      'src/shop/sales/list.ts': action('List', 'GET /order'),
    })
    const { action: file, added } = await project.route('POST /order')
    assert.equal(file, 'src/shop/sales/insert.ts')
    assert.deepEqual(added, [{ name: 'POST /order', file: 'order.yml', line: 4 }])
    assert.match(await project.read('order.yml'), /request: OrderInput\n {4}responses: { 201: order }/)
  })

  test('a file that another route uses is passed by', async () => {
    await using project = await openProject({}, 'todo')
    await project.route('POST /order --scopes order')
    const { action: file, created } = await project.route('POST /:shop/order --scopes order')
    assert.equal(file, 'src/shop/order/insert.ts')
    assert.deepEqual(
      created.map((one) => one.file),
      ['resources/routes/shop/order.yml', file],
    )
  })

  test('a file that is not part of the definition is passed by', async () => {
    await using project = await openProject({ 'resources/routes/order.yml': 'mine' }, 'todo')
    const { created } = await project.route('POST /order --scopes order')
    assert.equal(created[0]?.file, 'resources/routes/order-2.yml')
  })

  test('warns of an undeclared scope of the new route only', async () => {
    await using project = await openProject({
      'waypost.yml':
        'scope: { order.read: }\nroutes:\n  /a: { methods: { GET: { scopes: [old], action: src/a.ts } } }\nschema: {}\n',
      'src/a.ts': action('A', 'GET /a'),
    })
    const said: string[] = []
    const options = { folder: project.folder, method: 'GET', public: false, dryRun: true } as const
    const onDiagnostics = (found: readonly Diagnostic[]) => void said.push(...found.map(({ message }) => message))
    await generateRoute({ ...options, path: '/order', scopes: ['order.raed'], onDiagnostics })
    assert.deepEqual(said, ['"order.raed" is not a declared scope'])
  })

  test('a dry run prints the same and writes nothing', async () => {
    await using project = await openProject({}, 'todo')
    const before = await project.files()
    const dry = await project.route('POST /order --scopes order --dry-run')
    assert.deepEqual(await project.files(), before)
    assert.deepEqual(await project.route('POST /order --scopes order'), dry)
  })

  const refused: readonly { route: string; files?: Files; says: RegExp; hint?: RegExp }[] = [
    {
      route: 'GET /todo --public',
      says: /^GET \/todo already exists at resources\/routes\/todo\/collection.yml:4$/,
    },
    { route: 'POST /order', says: /^Specify who may call POST \/order$/, hint: /--scopes NAME/ },
    { route: 'POST /health/x --public', says: /"\/health\/x" is reserved/ },
    { route: 'POST order --public', says: /"order" is not a valid path/, hint: /\/order/ },
    { route: 'POST /a/{id} --public', says: /"\/a\/{id}" is not a valid path/, hint: /:id/ },
    { route: 'POST /../../etc --public', says: /is not a valid path/ },
    { route: 'GET /todo/:id --public', says: /matches the same requests as "\/todo\/:todo_id"/ },
    { route: 'POST /order --scopes or"der', says: /scope/ },
    {
      route: 'POST /order --public',
      files: { 'src/order/insert.ts': 'mine' },
      says: /^src\/order\/insert.ts already exists/,
    },
    {
      route: 'POST /order --public',
      files: { 'resources/schema.yml': 'Todo: { type: sting }' },
      says: /The project has \d+ errors/,
    },
    {
      route: 'POST /order --public',
      files: { 'src/order': 'a file' },
      says: /^Cannot write src\/order\/insert.ts: .*is unchanged/,
    },
    {
      route: 'POST /order/:id --public',
      files: { 'resources/routes/order': 'a file' },
      says: /^Cannot write resources\/routes\/order\/entity.yml: /,
    },
    {
      route: 'PATCH /a --public',
      files: {
        'waypost.yml': 'routes:\n  /a: !include a.yml\n  /b: !include a.yml\n',
        'a.yml': 'methods:\n  GET: { public: true, action: src/todo/insert.ts }\n',
      },
      says: /^Cannot change a\.yml:2 automatically: a\.yml is included 2 times$/,
    },
  ]
  for (const { route, files, says, hint = /./ } of refused) {
    test(`rejects ${route}${files === undefined ? '' : ` with ${Object.keys(files).join(', ')}`} and changes nothing`, async () => {
      await using project = await openProject({}, 'todo')
      for (const [file, text] of Object.entries(files ?? {})) {
        await mkdir(path.dirname(path.join(project.folder, file)), { recursive: true })
        await writeFile(path.join(project.folder, file), text)
      }
      const folders = await readdir(path.join(project.folder, 'src'))
      const before = await project.files()
      await assert.rejects(project.route(route), (error: Error & { hint?: string }) => {
        assert.match(error.message, says)
        assert.match(error.hint ?? '', hint)
        return true
      })
      assert.deepEqual(await project.files(), before)
      assert.deepEqual(await readdir(path.join(project.folder, 'src')), folders)
    })
  }

  test('writes nothing through a link that leads out of the project', async () => {
    await using project = await openProject({ 'waypost.yml': 'routes: {}\n' })
    await using outside = await openProject({ 'mine.txt': 'mine' })
    await symlink(outside.folder, path.join(project.folder, 'src'))
    await assert.rejects(project.route('POST /order --public'), { message: /its folder is outside the project/ })
    assert.deepEqual(await outside.files(), { 'mine.txt': 'mine' })
    assert.equal(await project.read('waypost.yml'), 'routes: {}\n')
  })
})
