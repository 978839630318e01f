// The check that `send` makes of each response of a test server.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ManifestMethod } from '../../../src/release/index.ts'
import type { ReceivedAnswer } from '../../support/answer-checks.ts'
import { checkAnswersOf } from '../../support/described-answers.ts'
import { actionFile, openProjectServer } from '../../support/project-server.ts'
import { send } from '../../support/send.ts'
import { loadManifest } from './document.ts'

const yaml = `
routes:
  /a/:id:
    path: { id: { type: integer } }
    methods:
      GET: { public: true, response: { type: object, required: [id], properties: { id: { type: integer } } }, action: a.ts }
  /a/b: { methods: { GET: { public: true, response: { type: string }, action: a.ts } } }
`

const { routes, ...rest } = await loadManifest({ 'waypost.yml': yaml, 'a.ts': '' })

describe('a response is compared with the description of its method', () => {
  // Code may send what it likes; a class may not.
  const byClass = (method: ManifestMethod) => ({ ...method, action: { class: 'respond', config: {} } })
  const ofClass = { ...rest, routes: routes.map((route) => ({ ...route, methods: route.methods.map(byClass) })) }
  const json = 'application/json'
  const problem = 'application/problem+json'
  const error = JSON.stringify({ type: 'about:blank', title: 'Error', status: 404, detail: 'Gone' })
  const cases: readonly {
    says: string
    answer: Partial<Omit<ReceivedAnswer, 'headers'>> & { headers?: Record<string, string> }
    by?: 'code'
    fails?: RegExp
  }[] = [
    { says: 'one that is described passes', answer: {} },
    { says: 'one for HEAD has no body', answer: { method: 'HEAD', text: '' } },
    { says: 'an undescribed status fails', answer: { status: 418 }, fails: /answered 418 .*does not describe/ },
    { says: 'a status that code has chosen passes', answer: { status: 418 }, by: 'code' },
    {
      says: 'an error of Waypost is described although code runs',
      answer: { status: 418, text: error.replace('about:blank', 'urn:waypost:errors#WP_RUNTIME_CONFLICT') },
      by: 'code',
      fails: /answered 418 .*does not describe/,
    },
    {
      says: 'another content type fails',
      answer: { headers: { 'content-type': 'text/csv' } },
      fails: /text\/csv, but/,
    },
    { says: 'another body fails', answer: { text: '{"id":"x"}' }, fails: /does not match .*must be integer/ },
    {
      says: 'the body of an error is compared too',
      answer: { status: 404, headers: { 'content-type': problem } },
      fails: /404 .*does not match/,
    },
    { says: 'an error in its form passes', answer: { status: 404, text: error, headers: { 'content-type': problem } } },
    {
      says: 'an undescribed header fails',
      answer: { headers: { 'content-type': json, etag: '"1"' } },
      fails: /'etag'/,
    },
    { says: 'a header of code passes', answer: { headers: { 'content-type': json, etag: '"1"' } }, by: 'code' },
    {
      says: 'a described header passes',
      answer: { status: 503, text: error, headers: { 'content-type': problem, 'retry-after': '1' } },
    },
    { says: 'the path with more text is preferred', answer: { path: '/a/b?x=1', text: '"text"' } },
    { says: 'what is no path of the project passes', answer: { path: '/b', status: 418 } },
    { says: 'a method that does not exist is exempt', answer: { status: 405 } },
  ]
  for (const { says, answer, by, fails } of cases) {
    test(says, async () => {
      const check = checkAnswersOf({ manifest: by === 'code' ? { ...rest, routes } : ofClass }, async () => undefined)
      const given = { method: 'GET', path: '/a/1', status: 200, headers: { 'content-type': json }, text: '{"id":1}' }
      const checking = check({ ...given, ...answer })
      await (fails === undefined ? checking : assert.rejects(checking, fails))
    })
  }

  test('routes of plugins too, by the description of their server', async () => {
    const plugin = `export default { name: 'geo', routes(app: any) {
      const response = { 200: { type: 'object', properties: { id: { type: 'integer' } } } }
      app.get('/geo', { config: { public: true }, schema: { response }, serializerCompiler: () => JSON.stringify }, async ({ query }: any) => ({ id: query.id ?? 1 }))
      app.get('/geo/private', { config: { scopes: ['geo'] } }, async () => ({ any: 1 }))
    } }`
    await using server = await openProjectServer({
      files: { 'waypost.yml': 'plugins: [./geo.ts]\nroutes: {}\n', 'geo.ts': plugin },
    })
    assert.equal((await send(server.port, { path: '/geo' })).status, 200)
    assert.equal((await send(server.port, { path: '/geo/private' })).status, 401)
    const headers = await server.authorize('ann', ['geo'])
    assert.deepEqual((await send(server.port, { path: '/geo/private', headers })).body, { any: 1 })
    await assert.rejects(send(server.port, { path: '/geo?id=x' }), /must be integer/)
  })

  test('every response that `send` gets from a test server', async () => {
    const files = {
      'waypost.yml': yaml,
      'a.ts': actionFile(`return context.respond(200, Buffer.from('{}'), { 'content-type': 'application/json' })`),
    }
    await using server = await openProjectServer({ files })
    await assert.rejects(send(server.port, { path: '/a/1' }), /does not match/)
    assert.equal((await send(server.port, { path: '/a/1', undescribed: 'the test wants it' })).status, 200)
  })
})
