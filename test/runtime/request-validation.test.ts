import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { openProjectServer, type ProjectServer } from '../support/project-server.ts'
import { send } from '../support/send.ts'
import { bodyCases } from './validation/bodies.ts'
import { parameterCases } from './validation/parameters.ts'
import { yml } from './validation/routes.ts'

const echo = 'return { url: request.url, params: request.params, query: request.query, body: request.body ?? null }'

describe('a request to a route', () => {
  let server: ProjectServer
  before(async () => {
    const action = `export default class Echo {\n  handle(request: any) {\n    ${echo}\n  }\n}\n`
    server = await openProjectServer({ files: { 'waypost.yml': yml, 'src/echo.ts': action } })
  })
  after(() => server[Symbol.asyncDispose]())

  for (const { what, sent, status, got, problems, detail, fails } of [...parameterCases, ...bodyCases]) {
    test(what, async () => {
      const answer = await send(server.port, sent)
      assert.equal(answer.status, status, answer.text)
      for (const [name, value] of Object.entries(got ?? {})) assert.deepEqual(answer.body[name], value)
      if (status < 400) return
      assert.equal(answer.headers['content-type'], 'application/problem+json')
      assert.equal(answer.body.status, status)
      assert.deepEqual(Object.keys(answer.body).slice(0, 4), ['type', 'title', 'status', 'detail'])
      const found = (answer.body.errors as { path: string; message: string }[] | undefined)?.map(
        (one) => `${one.path} ${one.message}`,
      )
      if (fails === undefined) assert.deepEqual(found?.sort(), problems?.toSorted())
      else for (const one of found ?? ['nothing']) assert.match(one, fails)
      if (detail !== undefined) assert.match(answer.body.detail, detail)
    })
  }

  test('a large body that does not match returns one problem, not millions', async () => {
    await using large = await openProjectServer({
      files: {
        'waypost.yml': yml.replace('2kb', '1mb').replace(', maxItems: 3', ''),
        'src/echo.ts': 'export default class Echo { handle() { return {} } }',
      },
    })
    const answer = await send(large.port, { path: '/list', body: Array.from({ length: 100_000 }, () => 'x') })
    assert.equal(answer.status, 400)
    assert.deepEqual(answer.body.errors, [{ path: 'body/0', message: 'must be integer' }])
    const smaller = await send(large.port, { path: '/list', body: Array.from({ length: 1000 }, () => 'x') })
    assert.equal(smaller.body.errors.length, 51)
    assert.deepEqual(smaller.body.errors.at(-1), { path: 'body', message: 'has 950 more problems' })
  })
})
