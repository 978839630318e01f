import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { RulesetDefinition } from '@stoplight/spectral-core'
import type { ActionHttp, JsonSchema } from '../../../src/contract/index.ts'
import { makeOpenApi, type OpenApi } from '../../../src/runtime/index.ts'
import { longTest } from '../../support/forms.ts'
import { readTemplate } from '../../support/template.ts'
import { lintDocuments, loadManifest } from './document.ts'
import { everyCombination, nastyProject } from './nasty-project.ts'

let documents: Readonly<Record<string, OpenApi>>
let problems: readonly string[]
before(async () => {
  const { info, ...rest } = makeOpenApi(await loadManifest(readTemplate('empty')))
  documents = {
    'todo.json': makeOpenApi(await loadManifest(readTemplate('todo'))),
    'empty.json': makeOpenApi(await loadManifest(readTemplate('empty')), { serverUrl: 'https://api.acme.test' }),
    'nasty.json': makeOpenApi(await loadManifest(nastyProject)),
    'all.json': makeOpenApi(await loadManifest(everyCombination())),
    'http.json': makeOpenApi(describedApi()),
    'wrong.json': { ...rest, info: { title: info.title } } as OpenApi,
  }
  problems = await lintDocuments(documents)
})
const problemsOf = (name: string) => problems.filter((problem) => problem.startsWith(`${name} `))

test("Redocly's recommended rules report nothing in the documents of the templates", () => {
  assert.deepEqual([...problemsOf('todo.json'), ...problemsOf('empty.json')], [])
})

// In CI, the rules of Redocly above.
longTest("Spectral's recommended rules report nothing in the documents of the templates", async () => {
  const { Spectral } = (await import('@stoplight/spectral-core')).default
  const { oas } = (await import('@stoplight/spectral-rulesets')).default
  const spectral = new Spectral()
  spectral.setRuleset({ extends: [[oas as RulesetDefinition, 'recommended']] })
  const lint = async (document: OpenApi) => {
    const found = await spectral.run(JSON.parse(JSON.stringify(document)))
    return found.map(({ code, path, message }) => `${code} ${path.join('/')} ${message}`)
  }
  const todo = makeOpenApi(await loadManifest(readTemplate('todo')))
  assert.deepEqual(await lint(todo), [])
  assert.deepEqual(
    await lint(makeOpenApi(await loadManifest(readTemplate('empty')), { serverUrl: 'https://a.test' })),
    [],
  )
  const { license: _license, contact: _contact, ...info } = todo.info
  assert.match((await lint({ ...todo, info })).join(), /^info-contact info /)
})

test('they report nothing for nested, circular, boolean and draft-07 schemas, or schemas named like ours', () => {
  assert.deepEqual(problemsOf('nasty.json'), [])
})

test('they report nothing for any combination of method, access, parameters, bodies, responses and limits', () => {
  const operations = Object.values(documents['all.json']!.paths ?? {}).flatMap((path) => Object.keys(path as object))
  assert.ok(operations.length > 150)
  assert.deepEqual(problemsOf('all.json'), [])
})

test('they report nothing for headers, media types and errors that classes describe', () => {
  const document = documents['http.json']!
  assert.deepEqual(problemsOf('http.json'), [])
  const { components, paths } = JSON.parse(JSON.stringify(document))
  assert.deepEqual(Object.keys(components.parameters), ['If-Match', 'If-Match-Required', 'X-O_27wn'])
  assert.deepEqual(Object.keys(paths['/a'].delete.responses), [
    '200', '400', '404', '409', '413', '415', '500', '502', '503', 'default',
  ]) // prettier-ignore
  assert.deepEqual(Object.keys(paths['/a'].put.responses['412'].content), [
    'application/json',
    'application/problem+json',
  ])
  assert.equal(paths['/a'].put.responses['428'].$ref, '#/components/responses/PreconditionRequired')
  assert.deepEqual(Object.keys(paths['/a'].delete.responses['503'].headers), ['X-Own', 'Retry-After'])
})

test('they report problems in an invalid document', () => {
  assert.match(problemsOf('wrong.json').join('\n'), /wrong\.json error struct #\/info/)
})

/** A route whose methods have all that classes can describe. */
function describedApi() {
  const problem = { type: 'application/problem+json' }
  const method = (method: string, http: ActionHttp, responses: Readonly<Record<string, JsonSchema>> = {}) => ({
    method,
    public: true,
    scopes: [],
    responses,
    http,
  })
  const row = { type: 'object', properties: { id: { type: 'integer' } } } as const
  const methods = [
    method(
      'GET',
      { responses: { 200: { headers: ['ETag'] }, 304: { headers: ['etag', 'X-Own'] } } },
      { 200: row, 304: true },
    ),
    method('POST', { responses: { 201: { headers: ['Location'] }, 308: { headers: ['location'] } } }, { 201: row }),
    method(
      'PUT',
      { headers: { 'If-Match': 'required', "X-O'wn": 'optional' }, responses: { 412: problem, 428: problem } },
      { 412: row },
    ),
    method('PATCH', { headers: { 'if-match': 'optional' }, responses: { 410: { ...problem, description: 'Gone' } } }),
    method('DELETE', {
      responses: { 502: problem, 503: { headers: ['X-Own'] }, default: { type: '*/*' }, 200: { type: 'text/plain' } },
    }),
  ]
  return { routes: [{ path: '/a', methods }], schemas: {}, scopes: {}, rates: {} }
}
