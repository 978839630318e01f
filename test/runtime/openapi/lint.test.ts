import assert from 'node:assert/strict'
import { test } from 'node:test'
import spectralCore, { type RulesetDefinition } from '@stoplight/spectral-core'
import spectralRulesets from '@stoplight/spectral-rulesets'
import { makeOpenApi, type OpenApi } from '../../../src/runtime/index.ts'
import { readTemplate } from '../../support/template.ts'
import { lintDocuments, loadManifest } from './document.ts'
import { everyCombination, nastyProject } from './nasty-project.ts'

const { Spectral } = spectralCore
const { oas } = spectralRulesets

test("Redocly's recommended rules report nothing in the documents of the templates", async () => {
  const documents = {
    'todo.json': makeOpenApi(await loadManifest(readTemplate('todo'))),
    'empty.json': makeOpenApi(await loadManifest(readTemplate('empty')), { serverUrl: 'https://api.acme.test' }),
  }
  assert.deepEqual(await lintDocuments(documents), [])
})

test("Spectral's recommended rules report nothing in the documents of the templates", async () => {
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

test('they report nothing for nested, circular, boolean and draft-07 schemas, or schemas named like ours', async () => {
  assert.deepEqual(await lintDocuments({ 'nasty.json': makeOpenApi(await loadManifest(nastyProject)) }), [])
})

test('they report nothing for any combination of method, access, parameters, bodies, responses and limits', async () => {
  const manifest = await loadManifest(everyCombination())
  assert.ok(manifest.routes.length > 150)
  assert.deepEqual(await lintDocuments({ 'all.json': makeOpenApi(manifest) }), [])
})

test('they report problems in an invalid document', async () => {
  const { info, ...rest } = makeOpenApi(await loadManifest(readTemplate('empty')))
  const problems = await lintDocuments({ 'wrong.json': { ...rest, info: { title: info.title } } })
  assert.match(problems.join('\n'), /wrong\.json error struct #\/info/)
})
