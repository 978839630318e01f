import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { actionFile, openProjectServer, type ProjectServer } from '../support/project-server.ts'
import { send } from '../support/send.ts'

const files = {
  'waypost.yml': `routes:
  /ticket/:status:
    path: { status: { type: integer } }
    methods:
      GET:
        public: true
        action: src/answer.ts
        responses:
          200: { type: object, properties: { id: { type: integer } } }
          409: { type: object, properties: { other: { type: string } } }
          4XX: { type: object, required: [why], properties: { why: { type: string } } }
          default: { type: object, required: [code], properties: { code: { type: integer } } }
`,
  'src/answer.ts': actionFile(
    `const status = request.params.status
    const all = { id: 1, other: 'o', why: 'w', code: 5, hidden: 'h' }
    if (status === 404) return context.respond(404, { why: 5 })
    if (status === 418) throw context.problem(418, 'a teapot')
    return context.respond(status, all)`,
  ),
}

for (const isDevelopment of [false, true]) {
  describe(`responses for ranges of errors, ${isDevelopment ? 'in dev' : 'on a server'}`, () => {
    let server: ProjectServer
    before(async () => {
      server = await openProjectServer({ files, isDevelopment })
    })
    after(() => server[Symbol.asyncDispose]())
    const get = async (status: number) => {
      const answered = await send(server.port, { path: `/ticket/${status}` })
      return [answered.status, answered.body] as const
    }

    test('a status without a schema of its own is written and checked by that of its range', async () => {
      assert.deepEqual(await get(200), [200, { id: 1 }])
      assert.deepEqual(await get(409), [409, { other: 'o' }])
      assert.deepEqual(await get(422), [422, { why: 'w' }])
      assert.deepEqual(await get(503), [503, { code: 5 }])
      assert.equal((await get(404))[0], 500)
      const [status, problem] = await get(418)
      assert.deepEqual([status, problem.detail], [418, 'a teapot'])
      // The default is for errors only.
      assert.equal((await get(202))[1].hidden, 'h')
    })

    test('ranges are described, and included in the errors of Waypost', async () => {
      const { body } = await send(server.port, { path: '/openapi.json' })
      const { responses } = body.paths['/ticket/{status}'].get
      assert.deepEqual(Object.keys(responses), ['200', '400', '404', '406', '409', '500', '503', '4XX', 'default'])
      assert.equal(responses['4XX'].content['application/json'].schema.required[0], 'why')
      assert.equal(responses['default'].description, 'Any other error')
      assert.deepEqual(Object.keys(responses['404'].content), ['application/json', 'application/problem+json'])
      assert.equal(responses['404'].content['application/json'].schema.required[0], 'why')
      assert.equal(responses['503'].content['application/json'].schema.required[0], 'code')
    })
  })
}
