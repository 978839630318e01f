import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareReleases, type ManifestMethod, type ManifestStep } from '../../../src/release/index.ts'
import { makeManifest, tell } from './manifests.ts'

const step = (name: string, artifact = name): ManifestStep => ({
  name,
  action: { artifact, file: `src/${name}.ts` },
})

const changes: readonly (readonly [string, Partial<ManifestMethod>, Partial<ManifestMethod>, string[]])[] = [
  ['added', {}, { steps: [step('tenant')] }, ['the step tenant runs: src/tenant.ts']],
  ['removed', { steps: [step('tenant')] }, { without: ['tenant'] }, ['the step tenant no longer runs']],
  ['with other code', { steps: [step('a')] }, { steps: [step('a', 'b')] }, ['step a: code of src/a.ts']],
  [
    'in another order',
    { steps: [step('a'), step('b')] },
    { steps: [step('b'), step('a')] },
    ['steps run in the order b, a'],
  ],
  ['unchanged', { steps: [step('a')] }, { steps: [step('a')] }, []],
]

for (const [name, before, after, expected] of changes)
  test(`a step ${name} is listed`, () => {
    assert.deepEqual(tell(makeManifest(before), makeManifest(after)), expected)
  })

const warningsOf = (before: Partial<ManifestMethod> | undefined, after: Partial<ManifestMethod>) =>
  compareReleases(before && makeManifest(before), makeManifest(after))
    .accessWarnings.filter(({ code }) => code === 'WP_DEFINITION_STEP_REMOVED')
    .map(({ name, text }) => `${name} ${text}`)

test('a step that a private route with scopes loses changes who has access', () => {
  const shop = { public: false, scopes: ['shop'] } as const
  const steps = [step('tenant'), step('log')]
  assert.deepEqual(warningsOf({ ...shop, steps }, { ...shop, steps: [step('log')] }), [
    'POST /order no longer runs the step tenant, which may restrict access',
  ])
  assert.deepEqual(warningsOf(undefined, { ...shop, without: ['tenant'] }), [
    'POST /order does not run the step tenant, which may restrict access',
  ])
  assert.deepEqual(warningsOf({ ...shop, without: ['tenant'] }, { ...shop, without: ['tenant'] }), [])
  assert.deepEqual(warningsOf({ public: true, steps }, { public: true }), [])
})
