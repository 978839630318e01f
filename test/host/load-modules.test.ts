import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadModules } from '../../src/host/index.ts'
import { sha256 } from '../../src/kit/index.ts'
import { makeActions } from '../../src/runtime/index.ts'

const world = globalThis as { loadedActions?: string[] }

/** As many actions of one version, as after a save of a helper that all import. */
function makeSave(version: string, count: number) {
  const artifacts = Array.from({ length: count }, (_, index) => {
    const name = `${version}${index}`
    const content = `loadedActions.push('${name}')\nexport default class { handle() { return '${name}' } }\n`
    return { hash: sha256(content), content }
  })
  const uses = artifacts.map(({ hash }, index) => ({ action: { artifact: hash, file: `src/${index}.ts` } }))
  return { artifacts, uses }
}

test('of a save that changes many actions, only some are loaded at once, and the others on their first call', async () => {
  const loaded: string[] = (world.loadedActions = [])
  const { artifacts, uses } = makeSave('late', 60)
  const saved = new Set(['src/shared.ts', 'src/58.ts'])
  const found = await loadModules({}, { release: {} as never, artifacts, saved }, uses)
  assert.deepEqual([found.modules.size, loaded.length, loaded.at(-1)], [4, 4, 'late58'])
  const actions = await makeActions(
    {
      ...found,
      classes: new Map(),
      steps: new Map(),
      prepareConfig: () => assert.fail(),
      databases: {},
      services: () => assert.fail(),
    },
    uses,
  )
  const call = (index: number) => actions[index]!.handle({} as never, {} as never)
  assert.deepEqual([await call(0), await call(59), await call(59)], ['late0', 'late59', 'late59'])
  assert.equal(loaded.length, 5)
})

test('an action that could not be loaded on its first call is loaded again by the next', async () => {
  const loads: PromiseWithResolvers<unknown>[] = []
  const loadLate = () => {
    const load = Promise.withResolvers<unknown>()
    loads.push(load)
    return load.promise
  }
  const [action] = await makeActions(
    {
      modules: new Map(),
      loadLate,
      classes: new Map(),
      steps: new Map(),
      prepareConfig: () => assert.fail(),
      databases: {},
      services: () => assert.fail(),
    },
    [{ action: { artifact: 'hash', file: 'src/a.ts' } }],
  )
  const call = async () => action!.handle({} as never, {} as never)
  const together = [call(), call()]
  loads[0]!.reject(new Error('still waiting'))
  for (const one of together) await assert.rejects(one, /still waiting/)
  const again = call()
  loads[1]?.resolve(
    class {
      handle = () => 'loaded'
    },
  )
  assert.equal(await again, 'loaded')
  assert.equal(await call(), 'loaded')
  assert.equal(loads.length, 2)
})

test('all actions are loaded at once by a start, a deployment and a save that changes a few', async () => {
  const loaded: string[] = (world.loadedActions = [])
  const many = makeSave('all', 60)
  await loadModules({}, { release: {} as never, artifacts: many.artifacts }, many.uses)
  const few = makeSave('few', 50)
  await loadModules({}, { release: {} as never, artifacts: few.artifacts, saved: new Set(['src/shared.ts']) }, few.uses)
  assert.equal(loaded.length, 110)
})
