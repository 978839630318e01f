import assert from 'node:assert/strict'
import { withDeadline } from '../kit/index.ts'
import { loadSample, prepare, type Check, type CheckContext } from './sample-project.ts'

/** A route step that uses a step class. */
export interface StepSample {
  readonly config?: object
}

/** Lists the requirements for a step class. */
export function listStepChecks(context: CheckContext, name: string, { config = {} }: StepSample): readonly Check[] {
  const of = `the step class ${name}`
  const { plugin, limits, services } = context
  const one = plugin.steps![name]!
  return [
    {
      name: `${of} has a description and a valid config schema, which the config matches`,
      run: async () => {
        assert.equal(typeof one.description, 'string', 'It needs a description')
        const { stateType = '' } = one
        assert.equal(typeof stateType, 'string', 'Its stateType must be a text of TypeScript')
        await loadSample(yamlOf(name, config), { plugin })
      },
    },
    {
      name: `${of} makes a step`,
      run: async () => {
        const prepared = prepare(one.config, config, of)
        const use = { method: 'GET', path: '/sample' }
        const options = { config: prepared, use, databases: { System: 'sqlite' }, host: services() } as const
        const seconds = limits.makeMs / 1000
        const late = () => assert.fail(`make() did not finish within ${seconds} s`)
        const made: unknown = await withDeadline((async () => one.make(options))(), limits.makeMs, late)
        const { handle, after = () => undefined } = Object(made) as {
          readonly handle?: unknown
          readonly after?: unknown
        }
        assert.equal(typeof handle, 'function', 'make() must return { handle }')
        assert.equal(typeof after, 'function', '"after" must be a function')
      },
    },
  ]
}

/** The steps of a route without own code: one file would have to exist. */
function yamlOf(name: string, config: object) {
  const method = { public: true, action: 'Sample', steps: [{ sample: { class: name, config } }] }
  return { action: { Sample: { class: 'sample' } }, routes: { '/sample': { methods: { GET: method } } } }
}
